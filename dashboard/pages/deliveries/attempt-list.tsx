// The attempts of a delivery: time, outcome and the service's response.

import type { DeliveryDetail } from '../../api/deliveries.ts'
import { Badge } from '../../ui/badge.tsx'
import { formatNumber, formatTime } from '../../ui/format.ts'

const OUTCOME_LABELS = {
  delivered: 'Delivered',
  refused: 'Rejected',
  unreachable: 'Unreachable',
  timeout: 'Timed out',
  interrupted: 'Interrupted',
} satisfies Record<DeliveryDetail['attempts'][number]['outcome'], string>

export const AttemptList = ({ attempts }: { attempts: DeliveryDetail['attempts'] }) => (
  <ol className="grid gap-4">
    {attempts.map((attempt) => (
      <li key={`${attempt.at} ${attempt.attempt}`} className="grid gap-1.5">
        <div className="flex flex-wrap items-center gap-2 text-sm">
          <Badge tone={attempt.outcome === 'delivered' ? 'good' : 'bad'}>
            {OUTCOME_LABELS[attempt.outcome]}
          </Badge>
          {attempt.httpStatus !== null && <span>HTTP {attempt.httpStatus}</span>}
          <span className="text-soft">{formatNumber(attempt.tookMs)} ms</span>
          <time dateTime={attempt.at} className="ml-auto text-soft">
            {formatTime(attempt.at)}
          </time>
        </div>
        {attempt.answer && (
          <pre className="rounded-lg bg-sunken p-3 break-all whitespace-pre-wrap">{attempt.answer}</pre>
        )}
      </li>
    ))}
    {attempts.length === 0 && <li className="text-soft">No attempts yet</li>}
  </ol>
)
