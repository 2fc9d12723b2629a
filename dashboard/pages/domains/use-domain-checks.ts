// Looks at a domain's DNS records while its page is open and visible, until everything is there.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { type DomainResource, domainCheckQuery, invalidateDomains } from '../../api/domains.ts'
import { useApi, useCanEdit } from '../../shell/use-workspace.ts'
import { toast } from '../../ui/overlays/toast.tsx'
import { isSetUp } from './domain-state.tsx'

export function useDomainChecks(domain: DomainResource) {
  const api = useApi()
  const client = useQueryClient()
  const isWaiting = !isSetUp(domain)
  const check = useQuery({
    ...domainCheckQuery(client, api, domain.id, useCanEdit()),
    enabled: isWaiting,
  })
  const wasVerified = useRef(domain.verified)
  useEffect(() => {
    if (domain.verified && !wasVerified.current) {
      toast(`${domain.domain} is verified`)
      // The first domain of a workspace may be the primary one now.
      void invalidateDomains(client, api)
    }
    wasVerified.current = domain.verified
  }, [client, api, domain.verified, domain.domain])
  return {
    isWaiting,
    isChecking: check.isFetching,
    /** The time of the last check by this page; 0 before the first one. */
    checkedAt: check.dataUpdatedAt,
    error: check.error,
    checkNow: () => void check.refetch(),
  }
}
