// Opens the requested page after signing in, and drops the previous user's data.

import { useQueryClient } from '@tanstack/react-query'
import { announceSignIn } from '../../api/signed-in-tab.ts'

/** The address, if it belongs to the dashboard; otherwise `/app`. Anybody can write the link with this parameter. */
export const toSafePath = (next: string | undefined) =>
  next && /^\/app(\/(?!\/)[^\\]*)?$/.test(next) ? next : '/app'

export function useAfterSignIn() {
  const client = useQueryClient()
  return (next?: string) => {
    announceSignIn()
    client.clear()
    // A full page load, so that nothing of the previous user stays in memory.
    location.assign(toSafePath(next))
  }
}
