// What packages of the client use and Node.js has from release 22 on. Imported before them.

Promise.withResolvers ??= function withResolvers () {
  let resolve, reject
  const promise = new this((one, other) => { [resolve, reject] = [one, other] })
  return { promise, resolve, reject }
}
