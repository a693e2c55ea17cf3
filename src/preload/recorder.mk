# recorder
