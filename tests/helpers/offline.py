"""No network: whoever looks up a host or opens a connection fails at once."""

import socket


def forbid_network():
    """Let every look-up of a host, and every connection but to sockets of this machine's files, raise."""

    def refuse(*arguments, **named):
        raise AssertionError(f"the network is asked: {arguments}")

    def only_files(connect):
        return lambda self, address: (connect if self.family == socket.AF_UNIX else refuse)(self, address)

    socket.getaddrinfo = socket.gethostbyname = socket.create_connection = refuse
    socket.socket.connect = only_files(socket.socket.connect)
    socket.socket.connect_ex = only_files(socket.socket.connect_ex)
