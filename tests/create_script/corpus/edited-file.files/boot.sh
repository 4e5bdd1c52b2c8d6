echo @RUN@
