"""What a window manager does, where there is none: it asks windows to close, and says that they are minimised.

Through Xlib itself, as Debian 12's xdotool can do neither.
"""
import ctypes

ICONIC, NORMAL = 3, 1

_X = ctypes.CDLL("libX11.so.6")
_X.XOpenDisplay.restype = ctypes.c_void_p
_X.XOpenDisplay.argtypes = [ctypes.c_char_p]
_X.XInternAtom.restype = ctypes.c_ulong
_X.XInternAtom.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
_X.XSendEvent.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_int, ctypes.c_long, ctypes.c_void_p]
_X.XChangeProperty.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_int,
                               ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
_X.XUnmapWindow.argtypes = _X.XMapWindow.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
_X.XCloseDisplay.argtypes = [ctypes.c_void_p]


class _ClientMessage(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int),
                ("display", ctypes.c_void_p), ("window", ctypes.c_ulong), ("message_type", ctypes.c_ulong),
                ("format", ctypes.c_int), ("data", ctypes.c_long * 5), ("rest", ctypes.c_long * 24)]


class _Display:
    def __enter__(self):
        self.handle = _X.XOpenDisplay(None)
        if not self.handle:
            raise OSError("there is no X server")
        return self

    def __exit__(self, *_):
        _X.XCloseDisplay(self.handle)  # sends what is waiting

    def atom(self, name):
        return _X.XInternAtom(self.handle, name.encode(), 0)


def ask_to_close(window):
    with _Display() as display:
        event = _ClientMessage(type=33, window=window, message_type=display.atom("WM_PROTOCOLS"), format=32)
        event.data[0] = display.atom("WM_DELETE_WINDOW")
        _X.XSendEvent(display.handle, window, 0, 0, ctypes.byref(event))


def set_state(window, state):
    """ICONIC hides the window and says so; NORMAL brings it back."""
    with _Display() as display:
        name = display.atom("WM_STATE")
        value = (ctypes.c_long * 2)(state, 0)
        _X.XChangeProperty(display.handle, window, name, name, 32, 0, value, 2)
        (_X.XUnmapWindow if state == ICONIC else _X.XMapWindow)(display.handle, window)
