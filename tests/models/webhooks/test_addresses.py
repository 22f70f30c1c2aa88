"""Webhook targets: every internal address is rejected in any spelling."""

from ipaddress import ip_address, ip_network

import pytest

from models.webhooks.addresses import (
    AddressRefused,
    check_url,
    is_global_unicast,
    require_open,
)

INSIDE = [
    "https://127.0.0.1/",
    "https://127.1/",
    "https://127.0.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.0.0.1/",
    "https://0177.0.0.1/",
    "https://017700000001/",
    "https://127.0.0.01/",
    "https://0x7f.1/",
    "https://0/",
    "https://0.0.0.0/",
    "https://127.0.0.1./",
    "https://localhost./",
    "https://127.0.0.1%2f@shop.example/",
    "https://[::1]/",
    "https://[::]/",
    "https://[0:0:0:0:0:0:0:1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[::127.0.0.1]/",
    "https://[2002:7f00:1::]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[64:ff9b:1::7f00:1]/",
    "https://[2001:0:7f00:1::]/",
    "https://[fe80::1]/",
    "https://[fe80::1%25eth0]/",
    "https://[fc00::1]/",
    "https://[fd00:ec2::254]/",
    "https://[ff02::1]/",
    "https://[100::1]/",
    "https://[2001:db8::1]/",
    "https://[3fff::1]/",
    "https://10.0.0.1/",
    "https://172.16.0.1/",
    "https://192.168.1.1/",
    "https://169.254.169.254/",
    "https://100.100.100.200/",
    "https://100.64.0.1/",
    "https://192.0.0.192/",
    "https://198.18.0.1/",
    "https://192.0.2.1/",
    "https://203.0.113.1/",
    "https://224.0.0.1/",
    "https://240.0.0.1/",
    "https://255.255.255.255/",
    "https://192.88.99.1/",
    "https://0xa9.0xfe.0xa9.0xfe/",
    "https://2852039166/",
    "https://0251.0376.0251.0376/",
    "https://169.254.43518/",
    "http://shop.example/",
    "ftp://shop.example/",
    "//shop.example/",
    "https://u:p@shop.example/",
    "https://u@shop.example/",
    "https://@shop.example/",
    "https://shop.example:80/",
    "https://shop.example:22/",
    "https://shop.example:0/",
    "https://shop.example:65536/",
    "https://shop.example:1023/",
    "https://shop.example#127.0.0.1",
    "https://shop.example\\@127.0.0.1/",
    "https://127.0.0.1\\.shop.example/",
    "https://\u24dbocalhost/",
    "https://\uff11\uff12\uff17.0.0.1/",
    "https://127\u30020\u30020\u30021/",
    "https://xn--/@127.0.0.1/",
    "https:127.0.0.1/",
    "https:///127.0.0.1/",
    "https://127.0.0.1:443@shop.example/",
    "https://.shop.example/",
    "https://shop..example/",
    "https://-shop.example/",
]
OUTSIDE = [
    "https://shop.example",
    "https://shop.example/",
    "https://SHOP.example:443/a?b=c",
    "https://shop.example:8443/x",
    "https://93.184.215.14/hook",
    "https://[2606:4700::1111]:1024/",
    "https://xn--bcher-kva.example/",
    "https://a.b.c.d.example/?q",
    "https://1.example/",
]


@pytest.mark.parametrize("url", INSIDE)
def test_internal_url_is_rejected(url: str) -> None:
    with pytest.raises(AddressRefused):
        check_url(url, ())


def test_internal_urls_are_many() -> None:
    assert len(set(INSIDE)) >= 60


@pytest.mark.parametrize(
    "url", ["https://a b.example/", "https://a.example/\r\nX: y", " https://a"]
)
def test_url_with_white_space_is_rejected(url: str) -> None:
    with pytest.raises(AddressRefused):
        check_url(url, ())


@pytest.mark.parametrize("url", OUTSIDE)
def test_external_url_is_accepted(url: str) -> None:
    target = check_url(url, ())
    assert (target.scheme, target.request_target[0]) == ("https", "/")
    assert target.host == target.host.lower()


def test_target_has_host_port_and_path() -> None:
    target = check_url("https://[2606:4700::1111]:8443?a=b", ())
    assert (target.host, target.port, target.request_target) == ("2606:4700::1111", 8443, "/?a=b")
    assert target.address == ip_address("2606:4700::1111")


@pytest.mark.parametrize("inside", ["10.0.0.7", "::ffff:10.0.0.7", "fe80::7"])
def test_one_internal_address_rejects_the_name(inside: str) -> None:
    target = check_url("https://shop.example/", ())
    with pytest.raises(AddressRefused):
        require_open(target, [ip_address("93.184.215.14"), ip_address(inside)], ())


def test_operator_can_allow_networks() -> None:
    opened = [ip_network("127.0.0.0/8"), ip_network("::1/128")]
    for url in ("http://127.0.0.1:9000/hook", "https://127.9.9.9:9000/", "http://[::1]:9000/"):
        check_url(url, opened)
    for url in ("http://127.0.0.1:80/", "http://10.0.0.1:9000/", "http://93.184.215.14:9000/"):
        with pytest.raises(AddressRefused):
            check_url(url, opened)
    named = check_url("http://localhost:9000/", opened)
    require_open(named, [ip_address("127.0.0.1"), ip_address("::1")], opened)
    with pytest.raises(AddressRefused):
        require_open(named, [ip_address("93.184.215.14")], opened)


@pytest.mark.parametrize("text", ["8.8.8.8", "1.1.1.1", "2a00:1450::1", "2606:4700::1111"])
def test_global_unicast_addresses_are_recognized(text: str) -> None:
    assert is_global_unicast(ip_address(text))
