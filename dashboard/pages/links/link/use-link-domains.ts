// The domains that a link can be on: the server's own, and those of the workspace that are verified.

import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { domainsQuery } from '../../../api/domains.ts'
import { useApi } from '../../../shell/use-workspace.ts'

export interface LinkDomain {
  name: string
  caseSensitive: boolean
}

/** `primary` is where new links are made. */
export function useLinkDomains(): { domains: LinkDomain[]; primary: LinkDomain } {
  const { data } = useQuery(domainsQuery(useApi()))
  return useMemo(() => {
    const standard = { name: location.host, caseSensitive: false }
    const own = (data ?? [])
      .filter(({ verified }) => verified)
      .map(({ domain, caseSensitive, primary }) => ({ name: domain, caseSensitive, primary }))
    return { domains: [standard, ...own], primary: own.find(({ primary }) => primary) ?? standard }
  }, [data])
}
