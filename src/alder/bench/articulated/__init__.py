"""The drawer and the door: laws of a robot's joints, and control by inverting them."""
