echo train
