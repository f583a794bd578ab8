"""What all tests need."""

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background of a shell without job control: tests that interrupt would wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)
