// The commands of docs/hosting.md and docs/domains.md for nginx, run as they stand: certbot proves two names to an authority and
// gets certificates, nginx serves the files of `deploy/`, and a renewal reaches it. All of it happens on a network and a file
// system of the test's own, where the authority is Caddy's and the names lead to 127.0.0.1.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../support/architecture/read-checkout.ts'
import { getCodeBlock, readCodeBlocks } from '../support/code-blocks.ts'
import { getCaddy } from '../support/processes/caddy.ts'
import { canInstallPackages, installPackage } from '../support/processes/debian-package.ts'
import { getNginx } from '../support/processes/nginx.ts'
import { atScale } from '../support/suite.ts'

const HOST = 'go.your-host.example'
const DOMAIN = 'links.acme.example'
const INSTALL_MS = 600_000
/** certbot is a large package. */
const isSoak = atScale({ full: false, soak: true })
const canRun = isSoak && canInstallPackages() && Bun.which('unshare') !== null
const reason = isSoak ? 'mounts need root, and Debian' : 'npm run soak'

describe.skipIf(!canRun)(`certbot and nginx${canRun ? '' : ` (skipped: ${reason})`}`, () => {
  const dir = mkdtempSync(join(tmpdir(), 'towpath-certbot-'))
  beforeAll(() => {
    getNginx()
    if (!Bun.which('certbot')) installPackage('certbot', 'install certbot.')
  }, INSTALL_MS)
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  const write = (path: string, text: string) => writeFileSync(join(dir, path), text)

  /** The files that the script finds at Debian's places. */
  function writeFiles() {
    for (const path of ['bin', 'nginx/sites-available', 'nginx/sites-enabled', 'letsencrypt', 'www', 'data'])
      mkdirSync(join(dir, path), { recursive: true })
    write('hosts', `127.0.0.1 localhost authority.example ${HOST} ${DOMAIN}\n`)
    write(
      'Caddyfile',
      `{\n\tadmin off\n\tlocal_certs\n\tskip_install_trust\n\tauto_https disable_redirects\n\tstorage file_system ${dir}/authority\n\thttps_port 8443\n}\nhttps://authority.example {\n\tacme_server\n}\n`,
    )
    write(
      'letsencrypt/cli.ini',
      'server = https://authority.example:8443/acme/local/directory\nagree-tos = true\nregister-unsafely-without-email = true\nnon-interactive = true\n',
    )
    write(
      'nginx/nginx.conf',
      `pid ${dir}/nginx.pid;\nerror_log ${dir}/nginx.log;\nevents {}\nhttp { include /etc/nginx/sites-enabled/*; }\n`,
    )
    // Debian's own site of nginx.
    write('nginx/sites-enabled/default', 'server { listen 80 default_server; root /var/www/html; }\n')
    write('bin/systemctl', '#!/bin/sh\n[ "$1 $2" = "reload nginx" ] && exec nginx -s reload\n')
    chmodSync(join(dir, 'bin/systemctl'), 0o755)
  }

  /** Runs commands of the pages between what they need and what shows that they have worked. */
  async function runAlone(commands: string): Promise<Record<string, string>> {
    const script = `
      set -e
      mount --make-rprivate /
      ip link set lo up
      mount --bind ${dir}/hosts /etc/hosts
      mount --bind ${dir}/nginx /etc/nginx
      mount --bind ${dir}/letsencrypt /etc/letsencrypt
      mount --bind ${dir}/www /var/www/html
      export PATH=${dir}/bin:$PATH:/usr/sbin HOME=${dir} REQUESTS_CA_BUNDLE=${dir}/authority/pki/authorities/local/root.crt
      trap 'kill $authority $towpath $(cat ${dir}/nginx.pid) || true; wait' EXIT
      ${getCaddy()} run --config ${dir}/Caddyfile --adapter caddyfile 2> ${dir}/caddy.log & authority=$!
      HOST=127.0.0.1 PORT=3000 TOWPATH_URL=https://${HOST} TRUST_PROXY=127.0.0.1 DATA_DIR=${dir}/data LOG_LEVEL=error \\
        ${process.execPath} server/main.ts & towpath=$!
      until curl -sf --cacert $REQUESTS_CA_BUNDLE https://authority.example:8443/acme/local/directory; do sleep 0.1; done
      until curl -sf http://127.0.0.1:3000/livez; do sleep 0.1; done
      nginx
      ${commands}
      show() { echo | openssl s_client -connect 127.0.0.1:443 -servername $1 2> /dev/null | openssl x509 -noout -$2; }
      ask() { curl -s --cacert $REQUESTS_CA_BUNDLE -H 'Accept: application/json' -w ' %{http_code}' $1; }
      until ask https://${DOMAIN}/; do sleep 0.1; done
      echo
      echo "RESULT health $(ask https://${HOST}/livez)"
      echo "RESULT domain $(ask https://${DOMAIN}/spring)"
      serial=$(show ${DOMAIN} serial)
      echo "RESULT before $serial"
      certbot renew --force-renewal --no-random-sleep-on-renew
      until [ "$(show ${DOMAIN} serial)" != "$serial" ]; do sleep 0.1; done
      echo "RESULT after $(show ${DOMAIN} serial)"
    `
    const child = Bun.spawn(['timeout', '300', 'unshare', '--mount', '--net', 'bash', '-c', script], {
      cwd: ROOT,
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    const code = await child.exited
    expect({ code, said: code === 0 ? '' : `${out}\n${err}` }).toEqual({ code: 0, said: '' })
    return Object.fromEntries(
      [...out.matchAll(/^RESULT (\w+) (.*)$/gm)].map(([, name, value]) => [name, value]),
    )
  }

  test(
    'give a name its certificate, and renew it',
    async () => {
      writeFiles()
      const hosting = getCodeBlock(await readCodeBlocks('docs/hosting.md'), 'TLS with nginx', 'sh')
      const [domains = ''] = (await readCodeBlocks('docs/domains.md'))
        .filter(({ heading }) => heading === 'nginx and certbot')
        .map(({ code }) => code)
      const install = 'apt-get install -y nginx certbot\n'
      expect(hosting).toStartWith(install)
      const { health, domain, before, after } = await runAlone(hosting.replace(install, '') + domains)
      expect(health).toEndWith(' 200')
      // Towpath answers, and has never heard of the name.
      expect(domain).toBe('{"error":"Unknown domain"} 404')
      expect(before).toStartWith('serial=')
      expect(after).toStartWith('serial=')
      expect(after).not.toBe(before)
    },
    INSTALL_MS,
  )
})
