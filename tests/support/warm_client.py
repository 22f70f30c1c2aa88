"""The program that a shell script of a test runs as `specd`. `warm.shell` starts specd warm.

It imports nothing of specd, so that it starts in a hundredth of a second.
"""

import os
import socket
import struct
import sys


def main(place: str, words: list[str]) -> int:
    """Send the files, words and environment. Return the status of the program."""
    head = struct.Struct("!i")
    # Texts separated by NUL: the number of words, the words, the folder, the environment.
    variables = [f"{name}={value}" for name, value in os.environ.items()]
    body = "\0".join([str(len(words)), *words, os.getcwd(), *variables])
    sent = os.fsencode(body)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(place)
        socket.send_fds(connection, [head.pack(len(sent))], [0, 1, 2])
        connection.sendall(sent)
        answer = connection.recv(head.size, socket.MSG_WAITALL)
    status = head.unpack(answer)[0] if answer else 1
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
