"""conf/kubernetes/mayfly.yaml fits the options, the code, the Dockerfile and itself: names, ports, probes, selectors, volumes."""

import re

import yaml

MANIFEST = "conf/kubernetes/mayfly.yaml"
CONF = "conf/mayfly.conf"
SERVICE = "src/net/http/http_service.cc"
PING = "src/net/process/ping.cc"
KINDS = ["ConfigMap", "Service", "StatefulSet", "PodDisruptionBudget", "NetworkPolicy"]


def _options(text):
    """{name: its default, as text} of the conf file, which a test compares with the table of options."""
    lines = (line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#"))
    return {words[0]: words[1] if len(words) > 1 else "" for words in lines}


def _given(container, config):
    """The names of all options that the manifest sets, in the conf file's spelling."""
    names = list(_options("\n".join(config["data"].values())))
    names += [word[2:].split("=")[0] for word in container.get("args", ()) if word.startswith("--")]
    for variable in container.get("env", ()):
        name = variable["name"].removeprefix("MAYFLY_").removesuffix("_FILE")
        names.append(name.lower().replace("_", "-"))
    return names


def _wrong_probes(container, service, ping, given, options):
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    for name, option in (("redis", "port"), ("metrics", "metrics-port")):
        if ports[name] != int(given.get(option, options[option])):
            yield f"port {ports[name]} is not the daemon's {option}"
    served = set(re.findall(r'path == "(/[a-z]+)"', service))
    for name in ("startupProbe", "readinessProbe"):
        words = container.get(name, {}).get("exec", {}).get("command", [])
        # The probe reads the options as the daemon does.
        if words[:2] != ["mayfly", "--ping"] or words[2:3] != container["args"][:1]:
            yield f"the {name} does not ping with the daemon's conf file"
        for word in words[3:]:
            if f'"  {word} ' not in ping:
                yield f"the {name} has the flag {word}, which --ping does not know"
    asked = container.get("livenessProbe", {}).get("httpGet", {})
    if asked.get("port") != "metrics" or asked.get("path") not in served:
        yield "the livenessProbe asks for nothing that the daemon serves"


def _wrong_security(pod, container, dockerfile):
    user = int(re.search(r"useradd --system --uid (\d+)", dockerfile).group(1))
    if pod["securityContext"].get("runAsUser") != user or not pod["securityContext"].get("runAsNonRoot"):
        yield f"it does not run as the image's user {user}"
    mine = container["securityContext"]
    if not mine.get("readOnlyRootFilesystem") or mine.get("allowPrivilegeEscalation") is not False:
        yield "its root can be written to, or it may get more rights"
    if mine.get("capabilities") != {"drop": ["ALL"]}:
        yield "it has capabilities"
    if pod.get("enableServiceLinks") is not False:
        yield "service links set variables with the names of options"
    if "memory" not in container["resources"].get("limits", {}):
        yield "without a memory limit maxmemory auto takes the node's memory"


def _wrong_volumes(pod, container, claims, dockerfile):
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    kept = [claim["metadata"]["name"] for claim in claims]
    if sorted(mounts.values()) != sorted([volume["name"] for volume in pod["volumes"]] + kept):
        yield "volumes and what is mounted differ"
    for place in re.findall(r"^VOLUME (\S+)$", dockerfile, re.M):
        if mounts.get(place) not in kept:
            yield f"{place} cannot be written to, or does not outlive the pod"
    files = [word for word in container["args"] if word.startswith("/")]
    files += [variable["value"] for variable in container["env"] if variable["name"].endswith("_FILE")]
    for file in files:
        if file.rpartition("/")[0] not in mounts:
            yield f"{file} is not mounted"


def _wrong_selectors(objects, labels):
    selectors = [
        objects["Service"]["spec"]["selector"],
        objects["StatefulSet"]["spec"]["selector"]["matchLabels"],
        objects["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
        objects["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
    ]
    if any(selector != labels for selector in selectors):
        yield "a selector does not select the pods"
    if objects["StatefulSet"]["spec"]["serviceName"] != objects["Service"]["metadata"]["name"]:
        yield "the StatefulSet names another service"


def _wrong(files):
    documents = list(yaml.safe_load_all(files[MANIFEST]))
    if [document["kind"] for document in documents] != KINDS:
        yield f"it does not hold {', '.join(KINDS)}"
        return
    objects = {document["kind"]: document for document in documents}
    template = objects["StatefulSet"]["spec"]["template"]
    pod, container = template["spec"], template["spec"]["containers"][0]
    options, dockerfile = _options(files[CONF]), files["Dockerfile"]
    for name in _given(container, objects["ConfigMap"]):
        if name not in options:
            yield f"there is no option {name}"
    known = {port["name"] for port in container["ports"]}
    asked = [port["targetPort"] for port in objects["Service"]["spec"]["ports"]]
    asked += [port["port"] for rule in objects["NetworkPolicy"]["spec"]["ingress"] for port in rule["ports"]]
    for name in asked:
        if name not in known:
            yield f"the container has no port {name}"
    given = _options("\n".join(objects["ConfigMap"]["data"].values()))
    yield from _wrong_probes(container, files[SERVICE], files[PING], given, options)
    yield from _wrong_security(pod, container, dockerfile)
    claims = objects["StatefulSet"]["spec"].get("volumeClaimTemplates", [])
    yield from _wrong_volumes(pod, container, claims, dockerfile)
    yield from _wrong_selectors(objects, template["metadata"]["labels"])


def find(files):
    if MANIFEST not in files:
        return [f"{MANIFEST}: missing"]
    return [f"{MANIFEST}: {text}" for text in _wrong(files)]


def selftest():
    import os

    import source

    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    files = {name: text for name, text in source.load(root).items() if name in (MANIFEST, CONF, SERVICE, PING, "Dockerfile")}
    assert find(files) == [], find(files)
    for old, new in (
        ("maxmemory auto", "maxmemorie auto"),
        ("MAYFLY_REQUIREPASS_FILE", "MAYFLY_PASSWORD_FILE"),
        ('["/etc/mayfly/mayfly.conf"]', '["/etc/mayfly/mayfly.conf", "--nope", "1"]'),
        ('["/etc/mayfly/mayfly.conf"]', '["/etc/mayfly.conf"]'),
        ("containerPort: 6379", "containerPort: 6380"),
        ("targetPort: redis", "targetPort: rediss"),
        ("{port: redis}", "{port: page}"),
        ("containerPort: 9121", "containerPort: 9122"),
        ("metrics-port 9121", "metrics-port 9120"),
        ("path: /livez, port: metrics", "path: /live, port: metrics"),
        ("httpGet: {path: /livez, port: metrics}", "tcpSocket: {port: redis}"),
        ("[mayfly, --ping, /etc/mayfly/mayfly.conf, --any-answer]", "[mayfly, --ping, --any-answer]"),
        ("--any-answer]", "--nonsense]"),
        ("enableServiceLinks: false", "enableServiceLinks: true"),
        ("readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false"),
        ("runAsUser: 999", "runAsUser: 1000"),
        ("runAsNonRoot: true", "runAsNonRoot: false"),
        ("drop: [ALL]", "drop: [NET_RAW]"),
        ("limits: {memory: 1Gi}", "limits: {cpu: 1}"),
        ("mountPath: /data", "mountPath: /datas"),
        ("selector: {app.kubernetes.io/name: mayfly}", "selector: {app.kubernetes.io/name: other}"),
        ("serviceName: mayfly", "serviceName: other"),
        ("kind: ConfigMap", "kind: Secret"),
    ):
        assert old in files[MANIFEST], old
        assert find(files | {MANIFEST: files[MANIFEST].replace(old, new)}), new
    assert find({})
