// The checklist of a new workspace: link, click, form, submission. Each step is marked as done by itself.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Check, ExternalLink } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { createLink, invalidateLinks } from '../../../api/links.ts'
import { isOnboarded, type OnboardingProgress as Steps, uncountedHitsQuery } from '../../../api/onboarding.ts'
import { useApi, useWorkspace } from '../../../shell/use-workspace.ts'
import { Button, ButtonLink, buttonClassNames } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { CopyButton } from '../../../ui/copy/copy-button.tsx'
import { CODE_INPUT } from '../../../ui/forms/control-class.ts'
import { formatExample, TextField } from '../../../ui/forms/field.tsx'
import { Form } from '../../../ui/forms/form.tsx'
import { withScheme } from '../editor/destination-url.ts'
import { markOnboardingSeen } from './onboarding-seen.ts'

export function OnboardingChecklist({ steps }: { steps: Steps }) {
  const { id } = useWorkspace()
  const [hidden, setHidden] = useState(false)
  const done = [steps.link !== null, steps.clicked, steps.form !== null, steps.sent]
  const next = done.indexOf(false)
  const finish = () => {
    markOnboardingSeen(id)
    setHidden(true)
  }
  if (hidden) return null
  return (
    <section aria-labelledby="first-steps" className="mb-6 rounded-2xl border border-line bg-card">
      <header className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 pt-4 sm:px-6 sm:pt-5">
        <div className="min-w-0 flex-1 basis-64">
          <h2 id="first-steps" className="text-lg font-semibold">
            {isOnboarded(steps) ? 'You’re all set' : 'Get started'}
          </h2>
          <p className="text-soft">
            {isOnboarded(steps)
              ? 'Towpath counted a click and stored a submission, and knows which link brought it.'
              : 'Short links count clicks. Forms store submissions, and show which link brought them.'}
          </p>
        </div>
        {steps.link && (
          <Button variant="quiet" size="small" onClick={finish}>
            {isOnboarded(steps) ? 'Done' : 'Hide'}
          </Button>
        )}
      </header>
      <ol className="grid px-4 py-3 sm:px-6 sm:pb-5">
        <Step at={0} done={done} next={next} title="Create a short link">
          <QuickLink />
        </Step>
        <Step at={1} done={done} next={next} title="Open the link and see the click counted">
          {steps.link && <OpenLink link={steps.link} />}
        </Step>
        <Step at={2} done={done} next={next} title="Create a form">
          <p className="mb-2 text-soft">Your HTML form posts to Towpath. No server needed.</p>
          <ButtonLink
            variant="primary"
            to="/$workspaceId/forms"
            params={{ workspaceId: String(id) }}
            search={{ new: '1' }}
          >
            New form
          </ButtonLink>
        </Step>
        <Step at={3} done={done} next={next} title="Send the form and find it in the inbox">
          <p className="mb-2 text-soft">“Try it” on the form’s page sends a test.</p>
          {steps.form && (
            <ButtonLink
              variant="primary"
              to="/$workspaceId/forms/$formKey"
              params={{ workspaceId: String(id), formKey: steps.form.formKey }}
              search={{}}
            >
              Try the form
            </ButtonLink>
          )}
        </Step>
      </ol>
    </section>
  )
}

interface StepProps {
  at: number
  done: boolean[]
  /** The first step that is not done. Only this step is open. */
  next: number
  title: string
  children: ReactNode
}

function Step({ at, done, next, title, children }: StepProps) {
  const isDone = done[at] ?? false
  return (
    <li
      aria-current={at === next ? 'step' : undefined}
      className="grid grid-cols-[1.75rem_minmax(0,1fr)] gap-x-3 py-2"
    >
      <span
        className={classNames(
          'grid size-7 place-items-center rounded-full border text-sm font-medium',
          isDone
            ? 'border-transparent bg-accent text-on-accent'
            : at === next
              ? 'border-accent text-accent'
              : 'border-strong text-soft',
        )}
      >
        {isDone ? <Check size={15} aria-label="done" /> : at + 1}
      </span>
      <div className="min-w-0 pt-0.5">
        <h3 className={classNames('font-medium', at !== next && 'text-soft')}>{title}</h3>
        {at === next && <div className="pt-2 pb-2">{children}</div>}
      </div>
    </li>
  )
}

function QuickLink() {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate({ from: '/$workspaceId/links' })
  const [url, setUrl] = useState('')
  const create = useMutation({
    mutationFn: () => createLink(api, { destinationUrl: withScheme(url) }),
    onSuccess: () => invalidateLinks(client, api),
    onError() {},
  })
  return (
    <Form
      className="grid max-w-2xl gap-2 sm:grid-cols-[minmax(0,1fr)_auto]"
      onSubmit={() => {
        if (!create.isPending) create.mutate()
      }}
    >
      <TextField
        label="Long URL"
        hideLabel
        inputMode="url"
        {...CODE_INPUT}
        placeholder={formatExample('https://example.com/a/long/address')}
        required
        value={url}
        error={create.error?.message}
        onChange={({ target }) => setUrl(target.value)}
      />
      <Button type="submit" variant="primary" busy={create.isPending}>
        Shorten
      </Button>
      <p className="text-sm text-soft sm:col-span-2">
        Or{' '}
        <button
          type="button"
          className="font-medium text-accent underline-offset-2 hover:underline"
          onClick={() => void navigate({ search: { new: '1' } })}
        >
          set all options
        </button>
        : UTM parameters, targeting, expiry, password. Links in Bitly, Dub, YOURLS or another tool?{' '}
        <Link
          from="/$workspaceId/links"
          to="/$workspaceId/settings/transfer"
          search={{}}
          className="font-medium text-accent underline-offset-2 hover:underline"
        >
          Import them
        </Link>{' '}
        with their clicks.
      </p>
    </Form>
  )
}

function OpenLink({ link }: { link: LinkResource }) {
  const [opened, setOpened] = useState(false)
  useEffect(() => {
    if (!opened) return
    const timer = setTimeout(() => setOpened(false), 8000)
    return () => clearTimeout(timer)
  }, [opened])
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <code className="min-w-0 truncate rounded-lg bg-sunken px-3 py-1.5">
          {link.domain}/{link.slug}
        </code>
        <CopyButton text={link.shortUrl} label="Copy short link" />
        <a
          href={link.shortUrl}
          target="_blank"
          rel="noreferrer noopener"
          className={buttonClassNames('primary')}
          onClick={() => setOpened(true)}
        >
          <ExternalLink size={15} aria-hidden />
          Open link
        </a>
        <span role="status" className={classNames('text-sm text-soft', opened && 'pulse')}>
          {opened ? 'Counting…' : ''}
        </span>
      </div>
      <p className="mt-2 text-sm text-soft">
        Your figures leave out clicks of people who are signed in here. “Your team” in analytics shows them.
      </p>
      <RobotNotice linkId={link.id} />
    </>
  )
}

const ROBOT_REASONS = {
  bot: 'the program that opened the link sent the name of a bot or a tool, such as curl, or no name at all',
  prefetch: 'a program loaded the link in advance, before anyone opened it',
  head: 'only the head of the answer was asked for, as link checkers do',
} as const

/** Warns people who test a link with a tool: such a click is not counted. */
function RobotNotice({ linkId }: { linkId: number }) {
  const { data } = useQuery(uncountedHitsQuery(useApi(), linkId))
  const [most] = [...(data ?? [])].sort((a, b) => b.clicks - a.clicks)
  return (
    <p role="status" className="mt-2 max-w-2xl text-sm text-warn">
      {most &&
        `Your click was counted as a bot’s because ${ROBOT_REASONS[most.class]}. Open the link in a browser.`}
    </p>
  )
}
