// One entry of the chain of proofs: its day, its hash, and the button that counts the day again.

import { useMutation } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { type DayProofResource, type ProofCheckResource, verifyProof } from '../../../api/proofs.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy/copy-button.tsx'
import { formatCount, formatNumber } from '../../../ui/format.ts'

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })

interface Props {
  proof: DayProofResource
  /** Whether this is the latest entry of its day. */
  isNewest: boolean
}

export function ProofRow({ proof, isNewest }: Props) {
  const api = useApi()
  const check = useMutation({ mutationFn: () => verifyProof(api, proof.day) })
  const { day, hash } = proof
  const name = DAY.format(Date.parse(day))
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 last:border-b-0">
      <div className="min-w-0 flex-1 basis-72">
        <p className="flex flex-wrap items-center gap-x-2">
          <time dateTime={day} className="font-medium">
            {name}
          </time>
          <span className="text-sm text-soft">{describeEntry(proof)}</span>
        </p>
        <p className="flex items-center gap-1">
          <code className="min-w-0 truncate text-sm text-soft" title={hash}>
            {hash}
          </code>
          <CopyButton text={hash} label="Copy hash" />
        </p>
      </div>
      {isNewest && (
        <div className="flex min-w-0 flex-wrap items-center gap-2" role="status">
          {check.data && <Result check={check.data} />}
          <Button
            size="small"
            busy={check.isPending}
            aria-label={`Verify ${name}`}
            onClick={() => check.mutate()}
          >
            Verify
          </Button>
        </div>
      )}
    </li>
  )
}

function describeEntry({ kind, hits, removed, reason }: DayProofResource): string {
  if (kind === 'expired') return `${formatCount(removed ?? 0, 'hit')} removed: ${reason}`
  return kind === 'changed'
    ? `Changed to ${formatNumber(hits)} hits: ${reason}`
    : `Closed with ${formatCount(hits, 'hit')}`
}

function Result({ check: { verified, message } }: { check: ProofCheckResource }) {
  const [tone, label] = toResultBadge(verified)
  return (
    <>
      <Badge tone={tone}>{label}</Badge>
      <span className="min-w-0 text-sm text-soft">{message}</span>
    </>
  )
}

function toResultBadge(verified: boolean | null): [ComponentProps<typeof Badge>['tone'], string] {
  if (verified === null) return ['neutral', 'Removed']
  return verified ? ['good', 'Verified'] : ['bad', 'Differs']
}
