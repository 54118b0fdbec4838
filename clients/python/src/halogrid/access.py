"""How a program authenticates at a coordinator."""

from __future__ import annotations

import os
import ssl
import stat
from typing import Optional

from .errors import Error


def read_token(token: Optional[str], token_file: Optional[str]) -> Optional[str]:
    """The token: as given, else from the file, else from HALOGRID_TOKEN_FILE or HALOGRID_TOKEN; None if none is set.

    Call it for each request, because a file may have a new token. Raises Error, without any of the token.
    """
    if token is not None:
        return _one_word(token, "token")
    if token_file is not None:
        return _one_word(_read_secret(token_file, "token_file"), token_file)
    named = os.environ.get("HALOGRID_TOKEN_FILE")
    if named:
        return _one_word(_read_secret(named, "HALOGRID_TOKEN_FILE"), named)
    word = os.environ.get("HALOGRID_TOKEN")
    return _one_word(word, "HALOGRID_TOKEN") if word else None


def open_tls(ca_file: Optional[str]) -> ssl.SSLContext:
    """TLS with servers whose certificates were signed by an authority of the file or, without a file, of the system."""
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        # Errors of TLS are OSErrors too.
        raise Error(
            f"Expected certificates in PEM for ca_file but '{ca_file}' has none: {error}", field="ca_file"
        ) from None


def _read_secret(path: str, option: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            about = os.fstat(file.fileno())
            is_of_root = about.st_uid == 0 and hasattr(os, "getuid") and os.getuid() != 0
            open_to = about.st_mode & (0o027 if is_of_root else 0o077)
            if open_to and os.name == "posix":
                mode = f"{stat.S_IMODE(about.st_mode):04o}"
                how = f"'chmod 600 {path}' keeps it secret"
                raise Error(f"The file '{path}' ({option}) is open to other users (mode {mode}): {how}", field=option)
            return file.read(2**20)
    except (OSError, UnicodeDecodeError) as error:
        raise Error(f"The file '{path}' ({option}) cannot be read: {error}", field=option) from None


def _one_word(text: str, where: str) -> str:
    word = text.strip()
    # The characters that a header can carry.
    if word and all("!" <= sign <= "~" for sign in word):
        return word
    raise Error(f"Expected one token in {where} but it holds none, or more than one word", field="token")
