#!/bin/sh
# Appends each message on a shared topic to the file $RECEIVED: the line as the host sent it.
while IFS= read -r line; do
    id=${line#*'"id":'} id=${id%%,*}
    method=${line#*'"method":"'} method=${method%%'"'*}
    result=null
    case $method in
    initialize) result='{"protocol":2,"module":"com.example.orders","topics":["shared.*"]}' ;;
    event) printf '%s\n' "$line" >>"$RECEIVED" ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
