"""Other ways to a box than a file of dpkg's: the tarball's script, the repository, the documents' own words."""

import json
import os
import re
import shutil
import subprocess

import pytest

from support import documents
from support.box import ROOT

UNIT = "comanda.service"


def serves(root):
    return "200" == root.try_run("curl -sk -o /dev/null -w '%{http_code}' https://localhost:8443/healthz")[1]


@pytest.fixture
def unpacked(bare, tarball):
    """A Debian with the tarball's directory in /srv/tree."""
    bare.copy(tarball, "/srv/comanda.tar.gz")
    bare.run("mkdir /srv/tree && tar -C /srv/tree --strip-components=1 -xzf /srv/comanda.tar.gz")
    return bare


def test_the_tarball_installs_and_removes(unpacked):
    units = f"{UNIT} comanda-setup.socket comanda-backup.timer"
    unpacked.run("/srv/tree/install.sh")
    assert unpacked.calls() == [f"enable {units}", f"start {units}"] and serves(unpacked)
    unpacked.run("/srv/tree/install.sh")
    assert unpacked.calls() == [f"try-restart {UNIT}"] and serves(unpacked)
    said = unpacked.run("/srv/tree/install.sh --remove")
    assert "rm -rf /var/lib/comanda" in said
    assert not unpacked.path("/usr/bin/comanda").exists() and unpacked.path("/var/lib/comanda/live.db").exists()


def test_the_tarball_says_what_is_missing(unpacked):
    unpacked.run("rm -rf /usr/share/zoneinfo /etc/ssl/certs/ca-certificates.crt")
    status, said = unpacked.try_run("/srv/tree/install.sh")
    assert status == 1 and "tzdata" in said and "ca-certificates" in said, said
    assert not unpacked.path("/usr/bin/comanda").exists()


def test_the_tarball_leaves_what_runs_where_the_new_program_refuses(unpacked):
    unpacked.run("/srv/tree/install.sh")
    unpacked.calls()
    unpacked.path("/var/lib/comanda/comanda.conf").write_text("listn = 0.0.0.0:8443\n")
    status, said = unpacked.try_run("/srv/tree/install.sh")
    assert status == 1 and "did you mean listen?" in said, said
    assert unpacked.calls() == [] and serves(unpacked)


@pytest.mark.parametrize("command", ["./scripts/run", "./scripts/test", "./scripts/package"])
def test_a_system_without_debians_sources_gets_nothing_installed_and_is_told_of_containers(bare, command):
    for directory in ("scripts", "third_party"):
        shutil.copytree(ROOT / directory, bare.path(f"/srv/comanda/{directory}"))
    bare.run("rm -rf /etc/apt/sources.list /etc/apt/sources.list.d; dpkg -l > /srv/before")
    bare.path("/etc/os-release").unlink()
    bare.path("/etc/os-release").write_text('ID=ubuntu\nPRETTY_NAME="Ubuntu 24.04.3 LTS"\n')
    status, said = bare.try_run(f"cd /srv/comanda && {command}")
    assert status == 1 and "Ubuntu 24.04.3 LTS has none" in said and "podman run" in said, said
    bare.run("dpkg -l | diff - /srv/before")
    bare.run("rm /usr/bin/dpkg-query /etc/os-release")
    status, said = bare.try_run(f"cd /srv/comanda && {command}")
    assert status == 1 and "this system has none" in said and "dnf install podman" in said, said


@pytest.fixture
def signed(bare, package, tmp_path):
    """A Debian with a repository in /srv/repository, and that directory."""
    home = tmp_path / "gnupg"
    home.mkdir(mode=0o700)
    environment = {**os.environ, "GNUPGHOME": str(home)}
    subprocess.run(["gpg", "--batch", "-q", "--passphrase", "", "--quick-generate-key", "Test", "ed25519", "sign", "never"],
                   env=environment, check=True, capture_output=True)
    repository = tmp_path / "repository"
    for _ in range(2):  # The second time adds nothing and signs again.
        done = subprocess.run([ROOT / "scripts/repository", repository, "--key", "Test", "--url", "file:/srv/repository", package],
                              env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    subprocess.run(["gpgconf", "--kill", "all"], env=environment, check=True)
    shutil.copytree(repository, bare.path("/srv/repository"))
    bare.run("rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*; cp /srv/repository/comanda.asc /usr/share/keyrings/"
             " && cp /srv/repository/comanda.sources /etc/apt/sources.list.d/")
    return bare


def test_apt_installs_from_the_repository(signed):
    signed.run("apt-get -q update && apt-get -q -y --no-install-recommends install comanda")
    assert serves(signed)


def test_apt_refuses_a_repository_that_was_changed(signed):
    packages = signed.path("/srv/repository/dists/stable/InRelease")
    packages.write_text(re.sub("^Label: .*", "Label: Other", packages.read_text(), flags=re.M))
    signed.try_run("apt-get -q update")
    status, said = signed.try_run("apt-get -q -y --no-install-recommends install comanda")
    assert status != 0, said


def test_a_published_version_is_not_published_with_another_content(signed, package, tmp_path):
    other = tmp_path / package.name
    other.write_bytes(package.read_bytes() + b"\n")
    environment = {**os.environ, "GNUPGHOME": str(tmp_path / "gnupg")}
    done = subprocess.run([ROOT / "scripts/repository", tmp_path / "repository", "--key", "Test", "--url", "file:/x", other],
                          env=environment, capture_output=True, text=True)
    subprocess.run(["gpgconf", "--kill", "all"], env=environment, check=True)
    assert done.returncode == 1 and "published once" in done.stderr


def plug_in(booted, disk):
    """What udev does."""
    number = os.stat(disk.device).st_rdev
    booted.run(f"mknod {disk.device} b {os.major(number)} {os.minor(number)}; mkdir -p /dev/disk/by-uuid; "
               f"ln -s {disk.device} /dev/disk/by-uuid/{disk.uuid}")


def test_the_readmes_ten_steps_lead_to_a_paid_order_as_they_stand(booted, package, disk):
    """Its commands, but for the release of the package that they name, and what a person copies from an answer."""
    text = documents.section(documents.README, "Install it: ten steps to the first paid order")
    steps = re.split(r"^\d+\. ", text, flags=re.M)[1:]
    assert len(steps) == 10
    booted.copy(package, f"/srv/{package.name}")
    plug_in(booted, disk)
    known, copied = [], {}
    for step in steps:
        if "Pull the plug" in step:
            booted.pull_the_plug()
            plug_in(booted, disk)
            # In a container systemd leaves the devices of /etc/fstab alone.
            booted.run("mount -a -t ext4")
        for command in re.findall(r"^ {7,8}(\S.*)", step, re.M):
            if assigned := re.match("(KEY|ORDER)=", command):
                command = assigned[0] + copied[assigned[1]]
            if re.match(r"[A-Z]+=|call\(\)", command):
                known.append(command)
                continue
            # Nobody answers apt here, and only the package is at hand. The machine has no network, and `doctor` says so.
            command = command.replace("/dev/sdX1", disk.device).replace("apt install", "apt-get -q -y install --no-install-recommends")
            tolerated = "; true" if command == "comanda doctor" else ""
            said = booted.run("\n".join(["cd /srv", *known, command + tolerated]))
            if command == "comanda doctor":
                assert re.findall(r"^BROKEN +(\w+)", said, re.M) == ["addresses"], said
            if key := re.search(r"^key  (\S+)$", said, re.M):
                copied["KEY"] = key[1]
            if said.startswith('{"data"'):
                order = json.loads(said)["data"]
                copied["ORDER"] = order["id"]
    assert len(booted.run("ls /media/usb/comanda").split()) == 1 and booted.path("/media/usb/lost+found").is_dir()
    assert order["paid"] and order["total"] == 39 and re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", order["reference"])


def test_the_readmes_commands_on_backups_work_as_they_stand(bare, package):
    commands = documents.commands(documents.section(documents.TECHNICIAN, "Back up"))
    assert bare.install(package)[0] == 0
    bare.run("comanda import demo && mkdir -p /media/usb && mount -t tmpfs tmpfs /media/usb")
    said = "".join(bare.run(f"cd /srv && {command}") for command in commands)
    assert len(commands) == 8 and "orders, " in said and ": sound" in said
    assert bare.run("ls /media/usb").strip().endswith(".sealed")
    assert re.fullmatch(r"comanda-000001-\w+\ncomanda-000002-\w+\.sealed", bare.run("ls /var/backups/comanda").strip())
    # The unit's user can go on there: what root has made is that user's.
    bare.run("runuser -u comanda -- comanda backup")
