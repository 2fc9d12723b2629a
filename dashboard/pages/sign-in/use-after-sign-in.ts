// After signing in: what was known before is forgotten, and the page that was wanted is opened.

import { useQueryClient } from '@tanstack/react-query'

/** Only an address of the dashboard: the parameter comes from a link that anybody can write. */
export const toSafePath = (next: string | undefined) =>
  next && /^\/app(\/(?!\/)[^\\]*)?$/.test(next) ? next : '/app'

export function useAfterSignIn() {
  const client = useQueryClient()
  return (next?: string) => {
    client.clear()
    // A fresh page: nothing of somebody who was signed in before stays in memory.
    location.assign(toSafePath(next))
  }
}
