// Loads the file of a component when the component is first drawn, and draws `fallback` until it is there.

import { type ComponentProps, lazy, type ReactNode, Suspense } from 'react'

/** Any component, as React's own `lazy` takes it. */
type Component = Parameters<typeof lazy>[0] extends () => Promise<{ default: infer C }> ? C : never

export function lazyPart<N extends string, M extends Record<N, Component>>(
  load: () => Promise<M>,
  name: N,
  fallback?: ReactNode,
) {
  const Part = lazy(async () => ({ default: (await load())[name] }))
  return (props: ComponentProps<M[N]>) => (
    <Suspense fallback={fallback}>
      <Part {...props} />
    </Suspense>
  )
}
