"""APIs that Google defines in protocol buffers: one table of methods answers gRPC and REST alike.

A `Method` names its messages, the function that does the work and its HTTP rule. `grpc_handlers` and
`rest_routes` turn a list of them into what the two servers take.
"""

from localcloud.rpc.codes import RpcError, code_of
from localcloud.rpc.handlers import grpc_handlers
from localcloud.rpc.method import Method, Raw, plain, table
from localcloud.rpc.paging import page
from localcloud.rpc.rest import rest_routes

__all__ = ["Method", "Raw", "RpcError", "code_of", "grpc_handlers", "page", "plain", "rest_routes", "table"]
