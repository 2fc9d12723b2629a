// The outcomes of the open lead, and a form that sets one.

import { useMutation, useQuery } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { toFieldErrors } from '../../../api/client.ts'
import {
  deleteOutcome,
  type OutcomeResource,
  type OutcomeStage,
  outcomesQuery,
  setOutcome,
} from '../../../api/inbox/outcomes.ts'
import { locale } from '../../../api/language.ts'
import type { Submission } from '../../../api/submissions.ts'
import { useApi, useCanEdit } from '../../../shell/use-workspace.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { focusIfLost } from '../../../ui/focus.ts'
import { formatDay, formatMoney } from '../../../ui/format.ts'
import { SelectField, TextField } from '../../../ui/forms/field.tsx'
import { Form } from '../../../ui/forms/form.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { STAGE_LABELS, STAGE_TONES } from '../state/outcome-stages.ts'
import { useOutcomeRefresh } from './use-outcome-refresh.ts'

const STAGES = Object.keys(STAGE_LABELS) as OutcomeStage[]

/** The currency that was set last stays for the next lead. */
const CURRENCY_KEY = 'towpath-currency'

const SECTION_ID = 'outcomes'

const money = new Intl.NumberFormat(locale, { style: 'currency', currency: 'EUR' })
const findSeparator = (name: 'group' | 'decimal') =>
  money.formatToParts(1_000_000).find(({ type }) => type === name)?.value ?? ''
const [GROUP, DECIMAL] = [findSeparator('group'), findSeparator('decimal')]

/** `1,250.00` in English and `1.250,00` in German. */
function isGrouped([first = '', ...others]: string[]) {
  return others.length > 0 && /^[1-9]\d{0,2}$/.test(first) && others.every((part) => /^\d{3}$/.test(part))
}

/**
 * The API's decimal text, `1250.00`, for an amount in the page's language. A comma and a point both separate decimals where
 * the language does not use them for thousands, because some keyboards have only one of them.
 * @returns undefined when the text is no amount
 */
function parseAmount(text: string): string | undefined {
  // Spaces and apostrophes group thousands in many languages, and never separate decimals.
  const compact = text.trim().replace(/[\s'’](?=\d{3})/g, '')
  const [whole = '', ...decimals] = compact.split(DECIMAL)
  const groups = whole.split(GROUP)
  const plain = isGrouped(groups) ? [groups.join(''), ...decimals].join('.') : compact
  const amount = plain.replace(',', '.')
  return /^(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?$/.test(amount) ? amount : undefined
}

const EXAMPLE = new Intl.NumberFormat(locale, { minimumFractionDigits: 2 }).format(1250)

export function Outcomes({ submission }: { submission: Submission }) {
  const api = useApi()
  const canEdit = useCanEdit()
  const { data } = useQuery(outcomesQuery(api, submission.id))
  const isLead =
    submission.status !== 'spam' && submission.status !== 'unconfirmed' && !submission.duplicateOf
  if (!isLead || (!canEdit && (data ?? []).length === 0)) return null
  return (
    <section id={SECTION_ID} aria-label="Outcome" className="grid gap-2">
      <h3 className="text-sm font-medium">Outcome</h3>
      {data && data.length > 0 && (
        <ul className="grid gap-1">
          {data.map((outcome) => (
            <OutcomeLine key={outcome.id} outcome={outcome} canEdit={canEdit} />
          ))}
        </ul>
      )}
      {canEdit && <OutcomeForm submissionId={submission.id} />}
    </section>
  )
}

function OutcomeLine({ outcome, canEdit }: { outcome: OutcomeResource; canEdit: boolean }) {
  const api = useApi()
  const refresh = useOutcomeRefresh(outcome.submissionId)
  const remove = useMutation({
    mutationFn: () => deleteOutcome(api, outcome.id),
    async onSuccess() {
      await refresh()
      focusIfLost(() => document.querySelector<HTMLElement>(`#${SECTION_ID} button`))
    },
    onError: (error) => toast(error.message),
  })
  const { stage, value, currency } = outcome
  return (
    <li className="flex min-h-8 items-center gap-2 text-sm">
      <Badge tone={STAGE_TONES[stage]}>{STAGE_LABELS[stage]}</Badge>
      {value !== null && currency !== null && (
        <span className="font-medium tabular-nums">{formatMoney(value, currency)}</span>
      )}
      <span className="flex-1 text-soft">{formatDay(outcome.at)}</span>
      {canEdit && (
        <Button
          size="small"
          icon={<Trash2 size={15} />}
          aria-label={`Take back “${STAGE_LABELS[stage]}”`}
          busy={remove.isPending}
          onClick={() => remove.mutate()}
        />
      )}
    </li>
  )
}

function useOutcomeDraft(submissionId: number) {
  const api = useApi()
  const refresh = useOutcomeRefresh(submissionId)
  const [stage, setStage] = useState<OutcomeStage>('won')
  const [value, setValue] = useState('')
  const [currency, setCurrency] = useState(() => localStorage.getItem(CURRENCY_KEY) ?? 'EUR')
  const [isInvalid, setInvalid] = useState(false)
  const save = useMutation({
    mutationFn: (amount: string | undefined) =>
      setOutcome(api, {
        submissionId,
        stage,
        value: amount ?? null,
        currency: amount === undefined ? null : currency.trim(),
      }),
    async onSuccess(_, amount) {
      if (amount !== undefined) localStorage.setItem(CURRENCY_KEY, currency.trim().toUpperCase())
      setValue('')
      await refresh()
    },
    onError() {},
  })
  const submit = () => {
    if (save.isPending) return
    const amount = parseAmount(value)
    const isRefused = amount === undefined && value.trim() !== ''
    setInvalid(isRefused)
    if (!isRefused) save.mutate(amount)
  }
  const changeValue = (text: string) => {
    setInvalid(false)
    setValue(text)
  }
  return { stage, setStage, value, changeValue, isInvalid, currency, setCurrency, save, submit }
}

function OutcomeForm({ submissionId }: { submissionId: number }) {
  const { stage, setStage, value, changeValue, isInvalid, currency, setCurrency, save, submit } =
    useOutcomeDraft(submissionId)
  const errors = toFieldErrors(save.error, ['value', 'currency'])
  return (
    <Form className="grid gap-1.5" onSubmit={submit}>
      <div className="grid grid-cols-[1fr_1fr_5.5rem] items-start gap-2 sm:grid-cols-[9rem_9rem_5.5rem_auto]">
        <SelectField
          label="Stage"
          hideLabel
          value={stage}
          onChange={(event) => setStage(event.target.value as OutcomeStage)}
        >
          {STAGES.map((each) => (
            <option key={each} value={each}>
              {STAGE_LABELS[each]}
            </option>
          ))}
        </SelectField>
        <TextField
          label="Value"
          hideLabel
          inputMode="decimal"
          placeholder="Value"
          autoComplete="off"
          value={value}
          maxLength={22}
          onChange={(event) => changeValue(event.target.value)}
          error={isInvalid ? `Enter an amount, such as ${EXAMPLE}.` : errors.value}
        />
        <TextField
          label="Currency"
          hideLabel
          autoComplete="off"
          spellCheck={false}
          className="[&_input]:uppercase"
          value={currency}
          maxLength={3}
          onChange={(event) => setCurrency(event.target.value)}
          error={errors.currency}
        />
        <Button type="submit" busy={save.isPending} className="justify-self-start max-sm:col-span-3">
          Set outcome
        </Button>
      </div>
      {errors.general && (
        <p role="alert" className="text-sm text-danger">
          {errors.general}
        </p>
      )}
    </Form>
  )
}
