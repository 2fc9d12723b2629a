// Tells browsers to use https only (RFC 6797), on every answer of a server whose origin is https. Browsers ignore the
// header over plain http.

const [NAME, VALUE] = ['Strict-Transport-Security', 'max-age=31536000']

/** The header as a line of an answer; undefined where the origin is plain http. */
export const toStrictTransportLine = (origin: string) =>
  origin.startsWith('https:') ? `${NAME}: ${VALUE}\r\n` : undefined

/** @returns a handler whose answers have the header where the origin is https. An answer at once stays one. */
export function withStrictTransport<Args extends unknown[]>(
  origin: string,
  answer: (...args: Args) => Response | Promise<Response>,
): (...args: Args) => Response | Promise<Response> {
  if (!origin.startsWith('https:')) return answer
  const add = (response: Response) => {
    response.headers.set(NAME, VALUE)
    return response
  }
  return (...args) => {
    const response = answer(...args)
    return response instanceof Promise ? response.then(add) : add(response)
  }
}
