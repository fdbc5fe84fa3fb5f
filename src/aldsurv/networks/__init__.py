"""Networks whose weights have a leading axis of members: one pass serves one network or many.

Described as plain data, run on numpy to predict and on torch to train.
"""

from aldsurv.networks.activations import ACTIVATIONS
from aldsurv.networks.architecture import Architecture
from aldsurv.networks.numpy_forward import PreparedNetwork, forward

__all__ = ["ACTIVATIONS", "Architecture", "PreparedNetwork", "forward"]
