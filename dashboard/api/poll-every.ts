// Repeats a query at an interval, as long as the session lasts.

import { isSignedOut } from './session.ts'

/** For `refetchInterval`. */
export const pollEvery = (ms: number) => (query: { state: { error: Error | null } }) =>
  isSignedOut(query.state.error) ? false : ms
