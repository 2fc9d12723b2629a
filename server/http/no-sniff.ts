// Keeps browsers from guessing the type of an answer, such as a script in text that a stranger wrote
// (https://fetch.spec.whatwg.org/#x-content-type-options-header).

type Answer<Args extends unknown[]> = (...args: Args) => Response | Promise<Response>

/** @returns handlers whose answers have the header. An answer at once stays one. */
export const withNoSniff = <Args extends unknown[]>(
  routes: Record<string, Answer<Args>>,
): Record<string, Answer<Args>> =>
  Object.fromEntries(Object.entries(routes).map(([path, answer]) => [path, addNoSniff(answer)]))

export function addNoSniff<Args extends unknown[]>(answer: Answer<Args>): Answer<Args> {
  const add = (response: Response) => {
    response.headers.set('X-Content-Type-Options', 'nosniff')
    return response
  }
  return (...args) => {
    const response = answer(...args)
    return response instanceof Promise ? response.then(add) : add(response)
  }
}
