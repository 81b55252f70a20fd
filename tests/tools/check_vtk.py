#!/usr/bin/python3
"""VTK reads what pliant writes, and pliant reads what VTK writes, in every encoding.

usage: check_vtk.py MESH_SAMPLES FOLDER
"""
import json
import os
import subprocess
import sys

try:
    import vtk
except ImportError:
    print("SKIPPED: python3-vtk9 is not installed")
    sys.exit(77)

samples, folder = sys.argv[1], sys.argv[2]
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED:", what)


class Watch:
    """Collects what VTK complains about; it only prints otherwise."""

    def __init__(self, reader):
        self.messages = []
        for event in ("ErrorEvent", "WarningEvent"):
            reader.AddObserver(event, lambda *a: self.messages.append(event))


def tuples(array):
    n = array.GetNumberOfComponents()
    rows = [list(array.GetTuple(i)) for i in range(array.GetNumberOfTuples())]
    return [r[0] for r in rows] if n == 1 else rows


def compare_data(name, kind, data, expected):
    for key, values in expected.get(kind, {}).items():
        array = data.GetArray(key)
        check(array is not None, f"{name}: no {kind} called {key}")
        if array is not None:
            if array.GetDataTypeAsString() in ("long", "vtkIdType", "long long"):  # doubles cannot hold them
                got = [array.GetValue(i) for i in range(array.GetNumberOfTuples())]
            else:
                got = tuples(array)
            check(got == values, f"{name}: {kind} {key} is {got}, not {values}")


def check_file(name, expected):
    if name.endswith(".stl"):
        reader = vtk.vtkSTLReader()
    elif name.endswith(".vtu"):
        reader = vtk.vtkXMLUnstructuredGridReader()
    else:
        reader = vtk.vtkUnstructuredGridReader()
        reader.ReadAllScalarsOn()
        reader.ReadAllNormalsOn()
        reader.ReadAllTCoordsOn()
    watch = Watch(reader)
    reader.SetFileName(os.path.join(folder, name))
    reader.Update()
    grid = reader.GetOutput()
    check(not watch.messages, f"{name}: VTK complains")
    cells = []
    for i in range(grid.GetNumberOfCells()):
        cell = grid.GetCell(i)
        cells.append([grid.GetCellType(i)] + [cell.GetPointId(k) for k in range(cell.GetNumberOfPoints())])
    points = [list(grid.GetPoint(i)) for i in range(grid.GetNumberOfPoints())]
    check(points == expected["points"], f"{name}: the points are {points}")
    check(cells == expected["cells"], f"{name}: the cells are {cells}")
    if not name.endswith(".stl"):
        compare_data(name, "point_data", grid.GetPointData(), expected)
        compare_data(name, "cell_data", grid.GetCellData(), expected)
    if "time" in expected:
        time = grid.GetFieldData().GetArray("TimeValue")
        check(time is not None and time.GetValue(0) == expected["time"], f"{name}: the time is wrong")


def float_array(name, rows, components, kind=vtk.vtkFloatArray):
    array = kind()
    array.SetName(name)
    array.SetNumberOfComponents(components)
    for row in rows:
        array.InsertNextTuple(row if components > 1 else [row])
    return array


def sample_grid(expected):
    grid = vtk.vtkUnstructuredGrid()
    points = vtk.vtkPoints()
    for p in expected["points"]:
        points.InsertNextPoint(p)
    grid.SetPoints(points)
    for kind, *nodes in expected["cells"]:
        grid.InsertNextCell(kind, len(nodes), nodes)
    # Lower-dimensional cells must not disturb.
    grid.InsertNextCell(vtk.VTK_LINE, 2, [0, 1])
    grid.InsertNextCell(vtk.VTK_VERTEX, 1, [2])
    data = expected.get("point_data", {})
    if "Normals" in data:
        grid.GetPointData().SetNormals(float_array("some normals", data["Normals"], 3))
        grid.GetPointData().SetTCoords(float_array("some uvs", data["TCoords"], 2, vtk.vtkDoubleArray))
    if "region" in expected.get("cell_data", {}):
        regions = expected["cell_data"]["region"] + [99, 99]
        grid.GetCellData().AddArray(float_array("region", regions, 1, vtk.vtkIntArray))
        for name, members in (("left", [1, 1, 0, 0, 0]), ("right", [0, 1, 0, 1, 1])):
            grid.GetPointData().AddArray(float_array("node_set:" + name, members, 1, vtk.vtkUnsignedCharArray))
    grid.GetPointData().AddArray(float_array("a field of no interest", [[1, 2, 3]] * len(expected["points"]), 3))
    return grid


def write_vtu(grid, prefix):
    """All encodings VTK has. Returns those pliant reads and those it refuses."""
    good, refused = [], []
    for mode in ("Ascii", "Binary", "Appended"):
        for compressor in ("None", "ZLib", "LZ4", "LZMA"):
            for header in ("UInt32", "UInt64"):
                for order in ("LittleEndian", "BigEndian"):
                    for encode in (True, False) if mode == "Appended" else (True,):
                        writer = vtk.vtkXMLUnstructuredGridWriter()
                        getattr(writer, f"SetDataModeTo{mode}")()
                        getattr(writer, f"SetCompressorTypeTo{compressor}")()
                        getattr(writer, f"SetHeaderTypeTo{header}")()
                        getattr(writer, f"SetByteOrderTo{order}")()
                        writer.SetEncodeAppendedData(encode)
                        writer.SetBlockSize(32)  # several blocks even in small files
                        writer.SetInputData(grid)
                        name = f"{prefix}_{mode}_{compressor}_{header}_{order}_{encode}.vtu"
                        writer.SetFileName(os.path.join(folder, name))
                        check(writer.Write() == 1, f"VTK cannot write {name}")
                        (refused if compressor in ("LZ4", "LZMA") else good).append(name)
    return good, refused


def write_legacy(grid, prefix):
    names = []
    for version in (42, 51):
        for binary in (False, True):
            writer = vtk.vtkUnstructuredGridWriter()
            writer.SetFileVersion(version)
            writer.SetFileType(vtk.VTK_BINARY if binary else vtk.VTK_ASCII)
            writer.SetInputData(grid)
            name = f"{prefix}_{version}_{'binary' if binary else 'text'}.vtk"
            writer.SetFileName(os.path.join(folder, name))
            check(writer.Write() == 1, f"VTK cannot write {name}")
            names.append(name)
    return names


def write_poly_data(expected, prefix):
    poly = vtk.vtkPolyData()
    points = vtk.vtkPoints()
    for p in expected["points"]:
        points.InsertNextPoint(p)
    poly.SetPoints(points)
    verts, lines, polys = vtk.vtkCellArray(), vtk.vtkCellArray(), vtk.vtkCellArray()
    verts.InsertNextCell(1, [0])
    lines.InsertNextCell(3, [0, 1, 2])
    for _, *nodes in expected["cells"]:
        polys.InsertNextCell(3, nodes)
    poly.SetVerts(verts)
    poly.SetLines(lines)
    poly.SetPolys(polys)
    poly.GetPointData().SetNormals(float_array("n", expected["point_data"]["Normals"], 3))
    names = []
    for version in (42, 51):
        for binary in (False, True):
            writer = vtk.vtkPolyDataWriter()
            writer.SetFileVersion(version)
            writer.SetFileType(vtk.VTK_BINARY if binary else vtk.VTK_ASCII)
            writer.SetInputData(poly)
            name = f"{prefix}_{version}_{'binary' if binary else 'text'}.vtk"
            writer.SetFileName(os.path.join(folder, name))
            check(writer.Write() == 1, f"VTK cannot write {name}")
            names.append(name)
    return names


def ask(*arguments):
    result = subprocess.run([samples, *arguments], capture_output=True, text=True, timeout=60)
    check(result.returncode == 0, result.stderr.strip() or f"{arguments} failed")


def inside(names):
    return [os.path.join(folder, n) for n in names]


os.makedirs(folder, exist_ok=True)
ask("write", folder)
with open(os.path.join(folder, "samples.json")) as f:
    expected = json.load(f)
for name, content in expected.items():
    check_file(name, content)

count = len(expected)
for kind in ("surface", "solid"):
    content = expected[f"{kind}_binary.vtu"]
    grid = sample_grid(content)
    good, refused = write_vtu(grid, f"theirs_{kind}")
    legacy = write_legacy(grid, f"theirs_{kind}")
    if kind == "surface":
        legacy += write_poly_data(content, "theirs_poly")
    ask("expect", kind, *inside(good + [n for n in legacy if "binary" in n]))
    ask("near", kind, *inside(n for n in legacy if "text" in n))  # VTK prints six digits there
    ask("refuse", *inside(refused))
    count += len(good) + len(legacy) + len(refused)
print(f"{count} files, {len(failures)} failures (VTK {vtk.vtkVersion.GetVTKVersion()})")
sys.exit(1 if failures else 0)
