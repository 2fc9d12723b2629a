// The dashboard begins: providers, the router, the page.

import { CSPProvider } from '@base-ui/react/csp-provider'
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api/client.ts'
import { isSignedOut } from './api/session.ts'
import { createAppRouter } from './routes.tsx'
import { Toasts, toastError } from './ui/overlays/toast.tsx'
import { readTheme, setTheme } from './ui/theme.ts'

setTheme(readTheme())

// The bundler knows the value and leaves the import out of every other build.
if (process.env.NODE_ENV === 'development') {
  void import('./reload.ts').then(({ reloadOnNewBuild }) => reloadOnNewBuild())
}

/** The session has ended somewhere else: back to where one signs in, and then to this page again. */
function onError(error: unknown) {
  if (!isSignedOut(error) || location.pathname.startsWith('/app/sign-in')) return
  client.setQueryData(['user'], null)
  const next = location.pathname + location.search
  void router.navigate({ to: '/sign-in', search: { next } })
}

const client = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({
    onError(error, _variables, _context, mutation) {
      onError(error)
      // A form shows what is wrong at the field; everything else is said in passing.
      if (!mutation.options.onError && !isSignedOut(error)) toastError(error)
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // What is wrong with the question does not get better; the server being away does.
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
    {/* Our policy allows no style elements. */}
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
        <Toasts />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
)
