"""The reference pages name everything there is: links lead somewhere, options, fields and scenes are the real ones."""
import json
import os
import re
import subprocess

from docs_support import PLIANT, SOURCE, DocsTest, blocks, main, page, pages


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def words_in_code(text):
    """Every word between backticks or in a code block."""
    code = re.findall(r"`([^`]+)`", re.sub(r"^```\w*$", "`", text, flags=re.MULTILINE))
    return set(re.findall(r"[\w$]+", " ".join(code)))


class Links(DocsTest):
    def test_lead_to_files_and_headings(self):
        for name in pages():
            for target in re.findall(r"\]\(([^)\s]+)\)", page(name)):
                if target.startswith(("http://", "https://")):
                    continue
                path, _, anchor = target.partition("#")
                file = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
                self.assertTrue(os.path.exists(os.path.join(SOURCE, file)), f"{name}: {target}")
                if anchor:
                    self.assertIn(anchor, anchors(page(file)), f"{name}: {target}")

    def test_index_names_every_page(self):
        targets = set(re.findall(r"\]\(([\w.]+\.md)\)", page("docs/index.md")))
        there = {name.removeprefix("docs/") for name in pages() if name.startswith("docs/")}
        self.assertEqual(there - {"index.md"} - targets, set())


class Command(DocsTest):
    def test_page_names_every_subcommand_and_option(self):
        text = page("docs/command.md")
        for subcommand, options in self.all_options(()):
            self.assertIn("pliant " + " ".join(subcommand), text)
            for option in options:
                self.assertRegex(text, rf"`[^`\n]*{option}\b", f"{subcommand} {option}")

    def test_page_names_no_option_that_is_not_there(self):
        there = {option for _, options in self.all_options(()) for option in options}
        text = page("docs/command.md")
        if "--image" not in there:  # a build without the renderer
            text = re.sub(r"^### Pictures$.*?(?=^##)", "", text, flags=re.MULTILINE | re.DOTALL)
        named = set(re.findall(r"`(--[a-z][\w-]*)", text))
        self.assertEqual(named - there - {"--help", "--version"}, set())

    def test_page_names_every_number_of_the_statistics(self):
        self.write("hello.json", blocks(page("README.md"), "json")[0])
        self.run_program(PLIANT, "run", "hello.json", "--stats", "stats.json", "--probe", "ball:0", "--frames", "2")
        with open(os.path.join(self.folder, "stats.json"), encoding="utf-8") as file:
            stats = json.load(file)
        words = words_in_code(page("docs/command.md"))
        self.assertEqual(self.keys(stats) - {"ball", "ground"} - words, set())

    def all_options(self, subcommand):
        """Pairs of a subcommand and its options, as the command's own help lists them."""
        help_text = self.run_program(PLIANT, *subcommand, "--help")
        head, _, tail = help_text.partition("Subcommands:")
        found = [(subcommand, re.findall(r"^ +(?:-\w,)?(--[\w-]+)", head, re.MULTILINE))]
        found[0][1][:] = [o for o in found[0][1] if o not in ("--help", "--version")]
        for name in re.findall(r"^  (\w+)", tail, re.MULTILINE):
            found += self.all_options((*subcommand, name))
        return [entry for entry in found if entry[0]]

    def keys(self, value):
        if isinstance(value, list):
            return set().union(*(self.keys(item) for item in value))
        if not isinstance(value, dict):
            return set()
        # Names of bodies and probes are the scene's, not the format's.
        return {key for key in value if ":" not in key}.union(*(self.keys(item) for item in value.values()))


class Scenes(DocsTest):
    def test_page_names_every_field_and_kind_of_the_schema(self):
        schema = json.loads(page("schema/scene.schema.json"))
        words = words_in_code(page("docs/scenes.md"))
        for name, definition in [("scene", schema), *schema["definitions"].items()]:
            fields = definition.get("properties", {})
            kinds = fields.get("kind", {}).get("enum", [])
            self.assertEqual(set(fields) - words, set(), name)
            self.assertEqual(set(kinds) - words, set(), name)

    def test_page_tells_the_defaults_of_the_schema(self):
        schema = json.loads(page("schema/scene.schema.json"))
        tables = re.findall(r"^\| field \| default \| \|\n(.*?)\n\n", page("docs/scenes.md"), re.MULTILINE | re.DOTALL)
        rows = re.findall(r"^\| `([\w$]+)` \| ([^|]*) \|", "\n".join(tables), re.MULTILINE)
        self.assertGreater(len(rows), 40)
        for field, told in rows:
            defaults = [d["properties"][field].get("default") for d in [schema, *schema["definitions"].values()]
                        if field in d.get("properties", {})]
            self.assertTrue(defaults, f"there is no field `{field}`")
            if re.fullmatch(r"`[^`]+`", told.strip()):
                values = [self.plain(d) for d in defaults]
                self.assertIn(told.strip(" `"), values, field)

    @staticmethod
    def plain(value):
        return value if isinstance(value, str) else json.dumps(value)

    def test_whole_scenes_in_the_pages_are_valid(self):
        checked = 0
        for name in pages():
            for block in blocks(page(name), "json"):
                scene = json.loads(block)
                if "bodies" not in scene:
                    continue
                self.write("scene.json", block)
                self.run_program(PLIANT, "check", "scene.json")
                checked += 1
        self.assertGreater(checked, 1)


class Gallery(DocsTest):
    def test_page_shows_every_scene(self):
        there = {name.removesuffix(".json") for name in os.listdir(os.path.join(SOURCE, "scenes"))
                 if name.endswith(".json")}
        row = r"^\| !\[(\w+)\]\([\w./]*/(\w+)\.png\) \| `(\w+)` \|"
        shown = re.findall(row, page("docs/gallery.md"), re.MULTILINE)
        self.assertEqual({name for row in shown for name in row}, there)
        self.assertEqual(len(shown), len(there))


class Layout(DocsTest):
    def test_page_names_every_folder(self):
        listed = subprocess.run(["git", "ls-files"], cwd=SOURCE, capture_output=True, text=True, check=False)
        if listed.returncode != 0:
            self.skipTest("the source tree is no git repository")
        files = listed.stdout.split()
        folders = {f.split("/")[0] for f in files if "/" in f}
        folders |= {f.split("/")[1] for f in files if f.startswith("src/") and f.count("/") > 1}
        text = page("docs/layout.md")
        self.assertEqual({f for f in folders if f"`{f}/`" not in text}, set())


main()
