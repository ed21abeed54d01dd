"""Django's SQLite in memory, whose connections other threads close in earnest.

Django never closes one, as the data would go with the last of them. That is the main thread's here, and what
another thread leaves open is to be noticed.
"""

from __future__ import annotations

import threading

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.sqlite3 import base


class DatabaseWrapper(base.DatabaseWrapper):
    def close(self):
        if threading.current_thread() is threading.main_thread():
            super().close()
        else:
            BaseDatabaseWrapper.close(self)
