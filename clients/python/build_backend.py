"""Makes the packages of halogrid for pip, by PEP 517 and PEP 660, with only the standard library."""

import base64
import hashlib
import io
import os
import re
import tarfile
import zipfile

_ROOT = os.path.dirname(os.path.abspath(__file__))
_SOURCES = os.path.join(_ROOT, "src")


def _read(*path):
    with open(os.path.join(_ROOT, *path), "rb") as file:
        return file.read()


VERSION = re.search(rb'^__version__ = "([^"]+)"$', _read("src", "halogrid", "__init__.py"), re.MULTILINE)[1].decode()
_NAME = f"halogrid-{VERSION}"
_INFO = f"{_NAME}.dist-info"
_WHEEL = f"{_NAME}-py3-none-any.whl"

_METADATA = (
    f"""Metadata-Version: 2.1
Name: halogrid
Version: {VERSION}
Summary: Runs texture kernels by halogrid, asks its coordinators, and loads its results
License: MIT
Requires-Python: >=3.9
Provides-Extra: arrays
Requires-Dist: numpy; extra == "arrays"
Requires-Dist: pandas; extra == "arrays"
Requires-Dist: pyarrow; extra == "arrays"
Description-Content-Type: text/markdown

""".encode()
    + _read("README.md")
)

_KIND = b"Wheel-Version: 1.0\nGenerator: halogrid\nRoot-Is-Purelib: true\nTag: py3-none-any\n"

#: The earliest time that a zip file can hold, used for all files so that equal sources give equal packages.
_MOMENT = (1980, 1, 1, 0, 0, 0)


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel and returns its name."""
    return _write_wheel(wheel_directory, _files("src"))


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes a wheel that points at the sources here."""
    return _write_wheel(wheel_directory, {"halogrid.pth": f"{_SOURCES}\n".encode()})


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Writes the metadata of the wheel and returns the name of their folder."""
    folder = os.path.join(metadata_directory, _INFO)
    os.makedirs(folder)
    with open(os.path.join(folder, "METADATA"), "wb") as file:
        file.write(_METADATA)
    return _INFO


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_sdist(sdist_directory, config_settings=None):
    """Writes the sources as one file and returns its name."""
    files = {name: _read(name) for name in ("LICENSE", "README.md", "build_backend.py", "pyproject.toml")}
    files["PKG-INFO"] = _METADATA
    for folder in ("src", "tests"):
        files.update({f"{folder}/{name}": content for name, content in _files(folder).items()})
    with tarfile.open(os.path.join(sdist_directory, f"{_NAME}.tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"{_NAME}/{name}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return f"{_NAME}.tar.gz"


def _files(folder):
    """The contents of the files in a folder, by path."""
    found = {}
    top = os.path.join(_ROOT, folder)
    for path, _, names in os.walk(top):
        for name in names:
            if name.endswith((".py", ".typed")):
                whole = os.path.join(path, name)
                with open(whole, "rb") as file:
                    found[os.path.relpath(whole, top).replace(os.sep, "/")] = file.read()
    return found


def _write_wheel(folder, files):
    files = {
        **files,
        f"{_INFO}/METADATA": _METADATA,
        f"{_INFO}/WHEEL": _KIND,
        f"{_INFO}/licenses/LICENSE": _read("LICENSE"),
    }
    record = f"{_INFO}/RECORD"
    lines = [f"{name},sha256={_hash(content)},{len(content)}" for name, content in sorted(files.items())]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    with zipfile.ZipFile(os.path.join(folder, _WHEEL), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _MOMENT)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)
    return _WHEEL


def _hash(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
