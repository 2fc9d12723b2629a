// Reads the token from the address and takes it out of there: browsers show, store and synchronize addresses.

import { useEffect, useState } from 'react'

/** @returns '' without a token, and after the page was reloaded */
export function useAddressToken(): string {
  const [token] = useState(() => new URLSearchParams(location.search).get('token') ?? '')
  useEffect(() => history.replaceState(history.state, '', location.pathname), [])
  return token
}
