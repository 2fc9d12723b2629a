// The proofs page: each closed day with its hash, whether it is unchanged, and what was removed.

import { useInfiniteQuery } from '@tanstack/react-query'
import { ShieldCheck } from 'lucide-react'
import { proofsQuery } from '../../../api/proofs.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { Page } from '../../../ui/page.tsx'
import { ShowMore } from '../../../ui/show-more.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { ProofRow } from './proof-row.tsx'

export const ProofsPage = () => (
  <Page
    title="Proofs"
    description="Each closed day has a hash that covers its figures and all days before it."
    breadcrumb={[{ label: 'Analytics', to: '/$workspaceId/analytics' }]}
  >
    <Proofs />
    <p className="mt-4 max-w-prose text-sm text-soft">
      Write the newest hash down where others see it, such as in a report. If a day is edited later, its hash
      and all later ones no longer fit. To check all days at once, the operator of this server runs{' '}
      <code>towpath verify</code>.
    </p>
  </Page>
)

function Proofs() {
  const query = useInfiniteQuery(proofsQuery(useApi()))
  const { data, error, isPending } = query
  if (isPending) return <SkeletonRows rows={6} className="h-16" />
  if (!data) return <ErrorState error={error} />
  const proofs = data.pages.flatMap((page) => page.data)
  if (proofs.length === 0)
    return (
      <EmptyState icon={ShieldCheck} title="No closed days yet">
        A day closes six hours after it ends (UTC). Then its hash is here.
      </EmptyState>
    )
  // Of a day that has changed, the newest entry is the one to check.
  const newest = new Map(proofs.toReversed().map(({ day, hash }) => [day, hash]))
  return (
    <>
      <ul className="rounded-2xl border border-line bg-card">
        {proofs.map((proof) => (
          <ProofRow key={proof.hash} proof={proof} isNewest={newest.get(proof.day) === proof.hash} />
        ))}
      </ul>
      <ShowMore query={query} className="mt-3" />
    </>
  )
}
