echo get
