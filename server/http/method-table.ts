// Which methods a path knows, read from the routes that are mounted: the difference between 404 and 405.

interface Route {
  method: string
  path: string
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** @returns a function from a path to its methods; empty for a path nobody mounted. */
export function createMethodTable(routes: () => Route[]): (path: string) => string[] {
  let table: { pattern: RegExp; method: string }[] | undefined
  return (path) => {
    table ??= routes()
      .filter((route) => METHODS.includes(route.method))
      .map(({ path, method }) => ({ pattern: toPattern(path), method }))
    return [...new Set(table.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))]
  }
}

const toPattern = (path: string) =>
  new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]*\}|:[^/]+/g, '[^/]+')}$`)
