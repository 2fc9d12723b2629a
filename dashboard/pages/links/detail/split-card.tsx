// The split test of a link: each variant with its clicks, leads and rate, the winner where there is one, and the button
// that ends the test. A test that has ended shows the figures that it was decided by.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { invalidateLinks, updateLoadedLinks } from '../../../api/links.ts'
import { pollEvery } from '../../../api/session.ts'
import { endSplitTest, type SplitResource, splitQuery } from '../../../api/splits.ts'
import { useApi, useCanEdit } from '../../../shell/use-workspace.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { formatTime } from '../../../ui/format.ts'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { VariantTable } from './variant-table.tsx'

const COUNTING_MS = 5000

export const SplitCard = ({ link }: { link: LinkResource }) =>
  link.split ? (
    <RunningSplit link={link} />
  ) : link.splitResult ? (
    <EndedSplit result={link.splitResult} />
  ) : null

function RunningSplit({ link }: { link: LinkResource }) {
  const canEdit = useCanEdit()
  const [isEnding, setEnding] = useState(false)
  const { data, error, refetch } = useQuery({
    ...splitQuery(useApi(), link),
    refetchInterval: pollEvery(COUNTING_MS),
  })
  return (
    <Card
      className="mt-6"
      title={
        <span className="flex items-center gap-2">
          Split test <Badge tone="good">Running</Badge>
        </span>
      }
      actions={
        canEdit && (
          <Button size="small" disabled={!data} onClick={() => setEnding(true)}>
            End the test
          </Button>
        )
      }
    >
      {data ? (
        <div className="grid grid-cols-1 gap-4">
          <div role="status">
            <p className="font-medium">{describeVerdict(data)}</p>
            <p className="text-sm text-soft">{describePeriod(data)}</p>
          </div>
          <VariantTable variants={data.variants} best={data.best} />
          <Definitions />
        </div>
      ) : error ? (
        <ErrorState error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton className="h-40" />
      )}
      {data && isEnding && <EndDialog link={link} split={data} onClose={() => setEnding(false)} />}
    </Card>
  )
}

function describeVerdict({ best, variants }: SplitResource): string {
  if (best !== null)
    return `${best} is better than ${variants.length === 2 ? 'the other' : 'each other'} variant.`
  return variants.every(({ clicks }) => clicks === 0)
    ? 'Too early to tell: no clicks yet.'
    : 'Too early to tell: the difference may be chance.'
}

const describePeriod = ({ startedAt, endsAt }: SplitResource) =>
  `Since ${formatTime(startedAt)}. ${endsAt ? `Ends ${formatTime(endsAt)}.` : 'It runs until you end it.'}`

const Definitions = () => (
  <p className="text-sm text-soft">
    Leads count for the variant of their last click. The interval has the true rate in 95 of 100 cases. The
    winner holds however often you look: equal variants have one in at most 5 of 100 tests.
  </p>
)

interface EndDialogProps {
  link: LinkResource
  split: SplitResource
  onClose: () => void
}

function EndDialog({ link, split: { best, variants }, onClose }: EndDialogProps) {
  const api = useApi()
  const client = useQueryClient()
  const end = async () => {
    const ended = await endSplitTest(api, link.id)
    updateLoadedLinks(client, api, new Map([[link.id, ended]]))
    void invalidateLinks(client, api)
    toast(`${ended.splitResult?.chosen ?? 'A variant'} is the destination now`)
  }
  return (
    <ConfirmDialog open onClose={onClose} title="End the split test?" action="End the test" onConfirm={end}>
      <p>
        {best === null
          ? `It is too early to tell which variant is better. The first one, ${variants[0]?.label}, becomes the destination.`
          : `${best}, the better variant, becomes the destination.`}
      </p>
      <p className="text-soft">All visitors go there from now on. The figures of the test stay here.</p>
    </ConfirmDialog>
  )
}

function EndedSplit({ result }: { result: NonNullable<LinkResource['splitResult']> }) {
  const { best, chosen, variants, startedAt, endedAt } = result
  return (
    <Card
      className="mt-6"
      title={
        <span className="flex items-center gap-2">
          Split test <Badge>Ended</Badge>
        </span>
      }
    >
      <div className="grid grid-cols-1 gap-4">
        <div>
          <p className="font-medium">
            {best === null
              ? `No variant was better for certain. The first one, ${chosen}, became the destination.`
              : `${chosen} won and became the destination.`}
          </p>
          <p className="text-sm text-soft">
            From {formatTime(startedAt)} to {formatTime(endedAt)}
          </p>
        </div>
        <VariantTable variants={variants} best={best} />
      </div>
    </Card>
  )
}
