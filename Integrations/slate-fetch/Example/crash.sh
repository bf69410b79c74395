#!/bin/sh
# A module that launches well, and ends soon after: only a probation finds that.
while IFS= read -r line; do
    id=${line#*'"id":'} id=${id%%,*}
    method=${line#*'"method":"'} method=${method%%'"'*}
    case $method in
    initialize) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocol":2,"module":"com.example.crash","events":["launch"]}}\n' "$id" ;;
    event)
        printf '{"jsonrpc":"2.0","id":%s,"result":null}\n' "$id"
        sleep 0.3
        exit 3
        ;;
    *) printf '{"jsonrpc":"2.0","id":%s,"result":null}\n' "$id" ;;
    esac
done
