"""Where experiments are run: functions, pools, equations, simulators, people and log files."""
