print("hostd")
