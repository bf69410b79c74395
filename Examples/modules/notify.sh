#!/bin/sh
# Appends each push, and the end of the app, to a file: the line as the host sent it.
# No JSON parser is needed: the host begins its requests with "jsonrpc", "id" and "method", in this
# order and without spaces, and its ids are whole numbers.
file=${1:-notifications.ndjson}
while IFS= read -r line; do
    id=${line#*'"id":'} id=${id%%,*}
    method=${line#*'"method":"'} method=${method%%'"'*}
    result=null
    case $method in
    initialize) result='{"protocol":2,"module":"com.example.notify","events":["push","terminate"]}' ;;
    event) printf '%s\n' "$line" >>"$file" ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
