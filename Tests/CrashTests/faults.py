def run(hostd, only):
    return 0
