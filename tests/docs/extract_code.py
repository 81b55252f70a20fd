"""Writes the C++ of a page as one program: extract_code.py PAGE OUT [--wrap]

Without --wrap the page's first ```cpp block is a program by itself. With it the page is a lesson: its blocks follow each
other inside one main().
"""
import re
import sys


def cpp_blocks(text):
    return re.findall(r"^```cpp\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def lesson(blocks):
    lines = ["#include <cstdio>", "#include <pliant/pliant.h>", "using namespace pliant;", "int main() {"]
    return "\n".join(lines + blocks + ["}", ""])


def main():
    page, out = sys.argv[1:3]
    with open(page, encoding="utf-8") as file:
        blocks = cpp_blocks(file.read())
    if not blocks:
        sys.exit(f"{page}: there is no ```cpp block")
    with open(out, "w", encoding="utf-8") as file:
        file.write(lesson(blocks) if "--wrap" in sys.argv[3:] else blocks[0])


if __name__ == "__main__":
    main()
