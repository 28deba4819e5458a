"""Any network, trained on boards and held against what is filed."""
