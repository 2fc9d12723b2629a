// Finds the routes of a path among the mounted routes: their methods (404 or 405), and the facts that they declare.

import type { MiddlewareHandler } from 'hono'
import { Failure, notFound } from '../lib/failure.ts'
import type { RouteFacts } from './route-facts.ts'

/** An entry of Hono's `routes`. */
interface MountedHandler {
  method: string
  path: string
  handler?: object
}

export interface Route {
  method: string
  path: string
  /** undefined for a route that declares none */
  facts: RouteFacts | undefined
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** A handler that does nothing: it carries the facts of its route into Hono's list of handlers. */
export const declareFacts = (facts: RouteFacts): MiddlewareHandler =>
  Object.assign<MiddlewareHandler, { facts: RouteFacts }>((_, next) => next(), { facts })

/** Lists each method and path once, in the order in which Hono tries them. A gate, which has all methods, is no route. */
export function listRoutes(handlers: readonly MountedHandler[]): Route[] {
  const routes = new Map<string, Route>()
  for (const { method, path, handler } of handlers) {
    if (!METHODS.includes(method)) continue
    const name = `${method} ${path}`
    const carried = handler && 'facts' in handler ? (handler.facts as RouteFacts) : undefined
    routes.set(name, { method, path, facts: routes.get(name)?.facts ?? carried })
  }
  return [...routes.values()]
}

/** @returns a function from a path to its routes, in the order in which they answer */
export function routeTable(handlers: () => readonly MountedHandler[]): (path: string) => Route[] {
  let table: { pattern: RegExp; route: Route }[] | undefined
  return (path) => {
    table ??= listRoutes(handlers()).map((route) => ({ pattern: patternOf(route.path), route }))
    const found = table.filter(({ pattern }) => pattern.test(path)).map(({ route }) => route)
    // `/links/bulk` is a path of its own, not the link with the id "bulk".
    const own = found.filter((route) => route.path === path)
    return own.length > 0 ? own : found
  }
}

/** The failure of a request for which its path has no route: 404 where the path has no routes at all, else 405. */
export function noRoute(routes: Route[]): Failure {
  if (routes.length === 0) return notFound('')
  return new Failure('method_not_allowed', 'Method not allowed', { allow: methodsOf(routes).join(', ') })
}

export const methodsOf = (routes: Route[]) => [...new Set(routes.map(({ method }) => method))]

/** The route for GET answers HEAD too. */
export const routeFor = (routes: Route[], method: string) =>
  routes.find((route) => route.method === (method === 'HEAD' ? 'GET' : method))

/** The path as the API reference has it, such as `/v1/links/{id}` for `/v1/links/:id{[0-9]+}`. */
export const toRouteTemplate = (path: string) => path.replace(/:(\w+)(?:\{[^}]*\})?/g, '{$1}')

const patternOf = (path: string) =>
  new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]*\}|:[^/]+/g, '[^/]+')}$`)
