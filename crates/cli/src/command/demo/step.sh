# What a task of the demo does: says that it begins, takes its time, says that it ends.
echo "begins $EDGEWISE_TASK $EDGEWISE_ATTEMPT" >> tale
sleep "$1"
echo "ends $EDGEWISE_TASK $EDGEWISE_ATTEMPT" >> tale
