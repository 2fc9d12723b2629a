// The entry point of the dashboard: providers, the router, error handling.

import { CSPProvider } from '@base-ui/react/csp-provider'
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api/client.ts'
import { isSignedOut, userQuery } from './api/session.ts'
import { createAppRouter } from './routes.tsx'
import { ConfirmIdentity } from './shell/confirm-identity.tsx'
import { SessionKeeper } from './shell/session/session-keeper.tsx'
import { Toasts, toastError } from './ui/overlays/toast.tsx'

// The bundler knows the value, and leaves the import out of every other build.
if (process.env.NODE_ENV === 'development') {
  void import('./reload.ts').then(({ reloadOnNewBuild }) => reloadOnNewBuild())
}

const isStranger = (error: unknown) => isSignedOut(error) && !client.getQueryData(userQuery.queryKey)

/**
 * Somebody who was never signed in here is led to the sign-in page, which leads back to the current page. For a session
 * that ends while somebody works there is a dialog (shell/session/).
 */
function onError(error: unknown) {
  // The owners require a second factor now: the shell leads to the set-up.
  if (error instanceof ApiError && error.code === 'second_factor_required') {
    void client.invalidateQueries({ queryKey: ['workspaces'] })
    void client.invalidateQueries({ queryKey: ['user'] })
  }
  if (!isStranger(error) || location.pathname.startsWith('/app/sign-in')) return
  const next = location.pathname + location.search
  void router.navigate({ to: '/sign-in', search: { next } })
}

const client = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({
    onError(error, _variables, _context, mutation) {
      onError(error)
      // A mutation with its own onError shows the error beside its form; all others get a toast.
      if (!mutation.options.onError && !isStranger(error)) toastError(error)
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // Only an unreachable or failing server is worth another try; a 4xx answer stays the same.
      retry: (failures, error) =>
        error instanceof ApiError && (error.status === 0 || error.status >= 500) && failures < 2,
    },
  },
})

const router = createAppRouter(client)

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

const root = document.getElementById('root')
if (!root) throw new Error('the page has no root')
createRoot(root).render(
  <StrictMode>
    {/* The Content-Security-Policy allows no style elements. */}
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
        <Toasts />
        <ConfirmIdentity />
        <SessionKeeper />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
)
