// What a handler asks of the server that brought its request.

export interface ServerHandle {
  /** Who is at the other end of the request's connection; null when it is gone. */
  requestIP(request: Request): { address: string } | null
  /** For how many seconds the connection may be silent; 0 is for ever. */
  timeout(request: Request, seconds: number): void
}
