// The part of the HTTP server that handlers use.

export interface ServerHandle {
  /** @returns the address of the other end of the connection; null when the connection is gone */
  requestIP(request: Request): { address: string } | null
  /** Sets for how many seconds the connection may be silent; 0 means for ever. */
  timeout(request: Request, seconds: number): void
}
