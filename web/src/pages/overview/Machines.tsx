// What the run uses: devices and memory of each rank, and the Lean servers.

import type { Host, LeanServer, Overview, RankStatus, Remote } from "../../api/types";
import { bytes, count, dateTime, integer, percent } from "../../lib/format";
import { Card, Silence } from "../../parts/basics";
import { Empty } from "../../parts/states";

export function Machines({ overview }: { overview: Overview }) {
  return (
    <>
    {overview.hosts.length > 0 && <Hosts hosts={overview.hosts} remote={overview.remote} live={overview.live} />}
    <div className="two">
      <Card title="Ranks" note={count(overview.ranks.length, "rank")}>
        {overview.ranks.length === 0
          ? <Empty title="No rank has reported">The run writes its state once a second as soon as it has started.</Empty>
          : <div className="machines">{overview.ranks.map((rank) => <Rank key={rank.rank} rank={rank} time={overview.time} />)}</div>}
      </Card>
      <Card title="Lean servers" flush note={overview.live || overview.servers.length === 0 ? undefined : "as the run saw them last"}><Servers servers={overview.servers} live={overview.live} /></Card>
    </div>
    </>
  );
}

/** Who makes attempts for the run, on other machines or in processes of their own; and who did. */
function Hosts({ hosts, remote, live }: { hosts: Host[]; remote: Remote | null; live: boolean }) {
  const up = hosts.filter((host) => host.state === "up");
  const rate = up.reduce((sum, host) => sum + host.attempts_per_minute, 0);
  const facts = [`${count(up.length, "host")}, ${rate.toFixed(1)} attempts a minute`];
  if (up.length < hosts.length) facts.push(`${integer(hosts.length - up.length)} gone`);
  if (remote) facts.push(`${integer(remote.given_again)} attempts made again, ${integer(remote.stale)} too old, weights of revision ${integer(remote.revision)}`);
  return (
    <Card title="Hosts" flush note={`${facts.join(" · ")}${live ? "" : " · as the run saw them last"}`}>
      <div className="table-wrap" tabIndex={0} role="region" aria-label="Hosts">
        <table className="table">
          <thead><tr>
            <th scope="col">Host</th><th scope="col">State</th><th scope="col" className="right">Under way</th><th scope="col" className="right">Attempts</th>
            <th scope="col" className="right" title="Since it joined">A minute</th><th scope="col" className="right" title="Attempts that were lost with it and went to others">Given again</th><th scope="col">Lean servers</th>
          </tr></thead>
          <tbody>{hosts.map((host) => (
            <tr key={host.name}>
              <td className="mono">{host.name}</td>
              <td>
                <span className={`badge ${host.state === "gone" ? "bad" : live ? "good" : ""}`}><span aria-hidden="true">{host.state === "gone" ? "!" : live ? "✓" : "·"}</span>{host.state === "gone" ? "gone" : live ? "working" : "was working"}</span>
                {host.since !== null && <div className="small muted">{host.state === "gone" ? "lost" : "joined"} {dateTime(host.since)}</div>}
              </td>
              {host.state === "gone"
                ? <><td className="right">–</td><td className="right">–</td><td className="right">–</td></>
                : <><td className="right">{integer(host.under_way)} <span className="muted">of {integer(host.size)}</span></td><td className="right">{integer(host.attempts)}</td><td className="right">{host.attempts_per_minute.toFixed(1)}</td></>}
              <td className="right">{integer(host.given_again)}</td>
              <td className={host.reason ? "small" : "mono small"}>{host.reason || host.servers.join(", ") || "not heard of yet"}</td>
            </tr>
          ))}</tbody>
        </table>
      </div>
    </Card>
  );
}

/** `time` is when the rank was looked at. */
function Rank({ rank, time }: { rank: RankStatus; time: number }) {
  const { gpu } = rank;
  const used = gpu?.memory ?? null;
  const total = gpu?.memory_total ?? null;
  return (
    <div className="machine small num">
      <div>
        <strong>Rank {rank.rank}</strong>
        <div className="muted">{rank.live ? rank.phase : rank.phase === "stopped" ? "stopped" : <Silence since={time - rank.age} />}</div>
      </div>
      <div>
        <span className="muted">{gpu ? gpu.name : "CPU"}</span> {gpu && gpu.utilization !== undefined && percent(gpu.utilization, 0)}
        {gpu && typeof gpu.utilization === "number" && <Bar share={gpu.utilization} label={`Utilization of rank ${rank.rank}`} />}
      </div>
      <div>
        <span className="muted">memory</span>{" "}
        {used !== null ? `${bytes(used)}${total ? ` of ${bytes(total)}` : ""}` : bytes(rank.memory)}
        {used !== null && total ? <Bar share={used / total} label={`GPU memory of rank ${rank.rank}`} /> : null}
        {used !== null && <div className="muted">process {bytes(rank.memory)}</div>}
      </div>
    </div>
  );
}

function Bar({ share, label }: { share: number; label: string }) {
  return (
    <div className="bar" role="meter" aria-label={label} aria-valuenow={Math.round(100 * share)} aria-valuemin={0} aria-valuemax={100}>
      <span style={{ width: `${100 * Math.min(1, share)}%` }} />
    </div>
  );
}

const STATES: Record<string, [tone: string, mark: string]> = { up: ["good", "✓"], down: ["bad", "!"] };

function Servers({ servers, live }: { servers: LeanServer[]; live: boolean }) {
  if (servers.length === 0) return <Empty title="No Lean server known">Servers are listed as soon as actors use them.</Empty>;
  return (
    <div className="table-wrap">
      <table className="table">
        <thead>
          <tr><th scope="col">Address</th><th scope="col">State</th><th scope="col" className="right">Actors</th><th scope="col" className="right">In error</th></tr>
        </thead>
        <tbody>
          {servers.map((server) => {
            const [tone, mark] = (live ? STATES[server.state] : undefined) ?? ["", live ? "?" : "·"];
            return (
              <tr key={server.address}>
                <td className="mono">{server.address}</td>
                <td><span className={`badge ${tone}`}><span aria-hidden="true">{mark}</span>{live ? server.state : `was ${server.state}`}</span></td>
                <td className="right">{integer(server.actors)}</td>
                <td className="right">{integer(server.errors)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
