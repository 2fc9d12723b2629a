// The part of the HTTP server that handlers use.

export interface ServerHandle {
  /** @returns the address of the other end of the connection; null when the connection is gone */
  requestIP(request: Request): { address: string } | null
  /** Sets the idle timeout of the connection in seconds; 0 means none. */
  timeout(request: Request, seconds: number): void
}
