"""The two benchmarks of differential equations, ODEBench and ODEBase."""
