// A notice that this server sends no email, with instructions for its operator and for everybody else.

export const MailNotice = () => (
  <div role="note" className="grid gap-2 rounded-lg border border-warn bg-warn-tint px-3 py-2.5 text-sm">
    <p className="font-medium">This server can’t send email yet.</p>
    <p>
      If you run this server: set <code className="break-all">SMTP_URL</code> (such as{' '}
      <code className="break-all">smtp://user:password@mail.example.com:587</code>) and <code>MAIL_FROM</code>{' '}
      (such as <code className="break-all">leads@example.com</code>), and start it again.
    </p>
    <p>Otherwise, ask the person who runs it, or choose another type.</p>
  </div>
)
