// The last request of a delivery, as it was sent.

import type { DeliveryDetail } from '../../api/deliveries.ts'
import { formatNumber } from '../../ui/format.ts'

export function SentRequest({ delivery }: { delivery: DeliveryDetail }) {
  const { request, attempts } = delivery
  if (!request) {
    return (
      <p className="text-sm text-soft">
        {attempts.length === 0 ? 'Nothing sent yet.' : 'No request was sent, or it is older than 30 days.'}
      </p>
    )
  }
  const { method, url, headers, body, bodyBytes } = request
  const isWhole = new TextEncoder().encode(body).length >= bodyBytes
  const isUnanswered = attempts.some(({ outcome }) => outcome === 'unreachable' || outcome === 'timeout')
  return (
    <div className="grid gap-3">
      <p className="text-sm break-all">
        <strong className="font-medium">{method}</strong> {url ?? 'to the mail server'}
      </p>
      <details className="text-sm">
        <summary className="w-fit rounded text-soft hover:text-ink">Headers</summary>
        <dl className="mt-2 grid gap-1 rounded-lg bg-sunken p-3 break-all">
          {Object.entries(headers).map(([name, value]) => (
            <div key={name}>
              <dt className="inline text-soft">{name}: </dt>
              <dd className="inline">{value}</dd>
            </div>
          ))}
        </dl>
      </details>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it
        tabIndex={0}
        className="max-h-80 overflow-auto rounded-lg bg-sunken p-3 text-sm break-all whitespace-pre-wrap"
      >
        {body}
      </pre>
      <p className="text-sm text-soft">
        {isWhole
          ? `${formatNumber(bodyBytes)} bytes.`
          : `The first 16 KiB of ${formatNumber(bodyBytes)} bytes.`}{' '}
        {isUnanswered && 'A request without a response may not have arrived.'}
      </p>
    </div>
  )
}
