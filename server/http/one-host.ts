// Refuses a request with more than one Host field (RFC 9112 §3.2): two readers could choose differently.

type Handler<Args extends unknown[]> = (
  request: Bun.BunRequest,
  ...args: Args
) => Response | Promise<Response>

export function requireOneHost<Args extends unknown[]>(answer: Handler<Args>): Handler<Args> {
  return (request, ...args) => {
    // `Headers` joins them with a comma, which no host has.
    if (!request.headers.get('host')?.includes(',')) return answer(request, ...args)
    return Response.json(
      { error: 'The request has more than one Host header. Send one.' },
      { status: 400, headers: { Connection: 'close', 'Cache-Control': 'no-store' } },
    )
  }
}
